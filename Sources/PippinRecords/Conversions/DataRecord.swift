import CoreData
import Pippin

/// A managed object that is identified by one of its attributes.
///
/// ```swift
/// extension PersonRecord: DataRecord {
///     typealias UidType = String
///     static var uidKey: String { "id" }
/// }
/// ```
///
/// A record that represents a model also conforms to ``ModelRepresentable``, which determines the type of its
/// identifier.
public protocol DataRecord: NSManagedObject {
    /// The type of the identifier.
    associatedtype UidType: UniqueIdentifier

    /// The entity's name in the model. By default, the name of the class.
    static var entityName: String { get }

    /// The attribute that holds the unique identifier. By default, `"uid"`.
    ///
    /// Finding records by it is fast only if the model has an index or a uniqueness constraint on it.
    static var uidKey: String { get }
}

extension DataRecord {
    /// The name of the class.
    public static var entityName: String { String(describing: Self.self) }

    /// `"uid"`.
    public static var uidKey: String { "uid" }

    /// The value of the attribute named by ``uidKey``; nil in a record that has no identifier yet.
    var identifier: UidType? { value(forKey: Self.uidKey).flatMap(UidType.init(attributeValue:)) }

    /// The identifier for messages.
    var identifierText: String { value(forKey: Self.uidKey).map { "\($0)" } ?? "" }
}
