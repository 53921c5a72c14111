import CoreData
import Pippin

/// A value that distinguishes one model from another: a string, a number, a UUID, or a type of your own that wraps one
/// of them.
///
/// ```swift
/// struct BookID: UniqueIdentifier {
///     let isbn: String
///
///     init(isbn: String) { self.isbn = isbn }
///
///     init?(attributeValue: Any) {
///         guard let isbn = attributeValue as? String else { return nil }
///         self.init(isbn: isbn)
///     }
///
///     var attributeValue: Any { isbn }
/// }
/// ```
///
/// An enumeration with raw values needs no implementation: the record holds its raw value.
public protocol UniqueIdentifier: Hashable, Sendable {
    /// The identifier as the record's attribute holds it: a `String`, a number, a `UUID`, a `URL`.
    var attributeValue: Any { get }

    /// The identifier that a record's attribute holds.
    ///
    /// - Parameter attributeValue: the attribute's value; the initializer fails for a value that is not an identifier
    ///   of this kind.
    init?(attributeValue: Any)
}

extension UniqueIdentifier {
    /// The identifier itself.
    public var attributeValue: Any { self }

    /// The attribute's value itself, if it is of this type.
    ///
    /// - Parameter attributeValue: the value of the attribute. The result is `nil` for a value of another type.
    public init?(attributeValue: Any) {
        guard let identifier = attributeValue as? Self else { return nil }
        self = identifier
    }
}

extension UniqueIdentifier where Self: RawRepresentable {
    /// The raw value.
    public var attributeValue: Any { rawValue }

    /// The identifier with that raw value.
    ///
    /// - Parameter attributeValue: the value of the attribute. The result is `nil` for a value of another type.
    public init?(attributeValue: Any) {
        guard let rawValue = attributeValue as? RawValue else { return nil }
        self.init(rawValue: rawValue)
    }
}

extension String: UniqueIdentifier {}
extension Int: UniqueIdentifier {}
extension Int16: UniqueIdentifier {}
extension Int32: UniqueIdentifier {}
extension Int64: UniqueIdentifier {}
extension UUID: UniqueIdentifier {}
extension URL: UniqueIdentifier {}
