import CoreData
import Pippin

/// A managed object that one of its attributes identifies.
///
/// ```swift
/// extension PersonRecord: DataRecord {
///     typealias UidType = String
///     static var uidKey: String { "id" }
/// }
/// ```
///
/// A record that stands for a model is ``ModelRepresentable`` as well, and gets the type of its identifier from there.
public protocol DataRecord: NSManagedObject {
    /// The type of the identifier.
    associatedtype UidType: UniqueIdentifier

    /// The entity's name in the model. Unless you say otherwise, the name of the class.
    static var entityName: String { get }

    /// The attribute that holds the unique identifier. Unless you say otherwise, `"uid"`.
    ///
    /// Finding records by it is only quick where the model has an index or a uniqueness constraint on it.
    static var uidKey: String { get }
}

extension DataRecord {
    /// The name of the class.
    public static var entityName: String { String(describing: Self.self) }

    /// `"uid"`.
    public static var uidKey: String { "uid" }

    /// What the attribute named by ``uidKey`` holds; nil in a record that has no identifier yet.
    var identifier: UidType? { value(forKey: Self.uidKey).flatMap(UidType.init(attributeValue:)) }
}
