import StoreSession

/// A model identified by its identifier alone: a back reference, or a link that reading does not follow.
///
/// ```swift
/// struct Review: CoreModel {
///     let id: UUID
///     var book: Reference<Book>
///     var text: String
/// }
///
/// let review = Review(id: UUID(), book: Reference(emma), text: "Badly done, Emma!")
/// ```
///
/// The store keeps it as a relationship, like that of a nested model. Saving looks the model up, and throws
/// ``PersistenceError/Code/missingReference`` if it is neither stored nor part of the same save. In JSON and other
/// encodings it is the identifier.
public struct Reference<Model: CoreModel>: Hashable, Sendable, Identifiable, Codable {
    /// The identifier of the model.
    public let id: Model.ID

    /// A reference to the model with that identifier.
    ///
    /// - Parameter id: the identifier.
    public init(id: Model.ID) { self.id = id }

    /// A reference to a model.
    ///
    /// - Parameter model: the model; only its identifier matters.
    public init(_ model: Model) { id = model.id }

    /// Encodes the identifier alone, as a single value.
    ///
    /// - Parameter encoder: the encoder, which receives a single value.
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(id)
    }

    /// Decodes the identifier.
    ///
    /// - Parameter decoder: the decoder, which provides a single value.
    /// - Throws: what the decoder throws.
    public init(from decoder: any Decoder) throws {
        id = try decoder.singleValueContainer().decode(Model.ID.self)
    }
}

/// A stand-in for a model in a property: a `Reference`.
protocol ModelReference {
    static var target: Any.Type { get }
    func keyValue() throws -> Any
}

extension Reference: ModelReference {
    static var target: Any.Type { Model.self }
    func keyValue() throws -> Any { try Model.keyValue(of: id) }
}

/// Several models, or references to them, in a property.
protocol ModelCollection {
    /// The type of the elements: a model or a reference.
    static var member: Any.Type { get }
    static var isOrdered: Bool { get }
    var members: [Any] { get }
    /// The members, as an array of their own type.
    var ordered: Any { get }
}

extension Array: ModelCollection {
    static var member: Any.Type { Element.self }
    static var isOrdered: Bool { true }
    var members: [Any] { self }
    var ordered: Any { self }
}

extension Set: ModelCollection {
    static var member: Any.Type { Element.self }
    static var isOrdered: Bool { false }
    var members: [Any] { Array(self) }
    var ordered: Any { Array(self) }
}

// Identifiers, as the attributes that hold them need them.
extension CoreModel {
    /// The identifier in the form that its attribute holds.
    ///
    /// - Throws: ``PersistenceError`` for an identifier that is not a single value.
    package func keyValue() throws -> Any { try Self.keyValue(of: id) }

    /// An identifier as a key that distinguishes models.
    ///
    /// - Throws: ``PersistenceError`` for an identifier that is not a single value.
    static func recordKey(of id: ID) throws -> RecordKey {
        // The types are the same here. A cast would check that again, slowly.
        if ID.self == String.self { return .string(unsafeBitCast(id, to: String.self)) }
        if ID.self == Int.self { return .integer(Int64(unsafeBitCast(id, to: Int.self))) }
        if ID.self == Int64.self { return .integer(unsafeBitCast(id, to: Int64.self)) }
        if ID.self == Int32.self { return .integer(Int64(unsafeBitCast(id, to: Int32.self))) }
        if ID.self == UUID.self { return .uuid(unsafeBitCast(id, to: UUID.self)) }
        guard let key = RecordKey(try storedKey(of: id)) else { throw nothing(id) }
        return key
    }

    /// An identifier as lists compare it, as the store does: by the bytes of a text.
    static func listKey(of id: ID) -> RecordKey { (try? recordKey(of: id)) ?? .other("\(id)") }

    /// An identifier in the form that its attribute holds.
    package static func keyValue(of id: ID) throws -> Any {
        // The types are the same here. A cast would check that again, slowly.
        if ID.self == String.self { return unsafeBitCast(id, to: String.self) }
        if ID.self == Int.self { return unsafeBitCast(id, to: Int.self) }
        if ID.self == UUID.self { return unsafeBitCast(id, to: UUID.self) }
        guard let value = try storedKey(of: id).predicateValue else { throw nothing(id) }
        return value
    }

    /// An identifier in the form that rows hold; nil for one that its attribute cannot hold.
    static func storedValue(of id: ID, _ kind: AttributeKind?) throws -> StoredValue? {
        if let value = StoredValue(try recordKey(of: id), of: kind) { return value }
        return try kind.flatMap { StoredValue(try keyValue(of: id), $0) }
    }

    /// An identifier as its coding gives it.
    private static func storedKey(of id: ID) throws -> StoredValue {
        do { return try AttributeEncoder.single(id) } catch {
            throw PersistenceError.unwritable(
                entity: "\(Self.self)", uid: "\(id)", key: "id", reason: error.encodingReason)
        }
    }

    private static func nothing(_ id: ID) -> PersistenceError {
        PersistenceError.unwritable(
            entity: "\(Self.self)", uid: "\(id)", key: "id",
            reason: "an identifier that is nothing tells nothing apart.")
    }
}
