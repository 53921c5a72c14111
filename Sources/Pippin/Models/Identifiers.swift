import CoreData

// Identifiers as the attributes that hold them.
extension CoreModel {
    /// The identifier as its attribute holds it.
    ///
    /// - Throws: ``PersistenceError`` for an identifier that is no single value.
    package func keyValue() throws -> Any { try Self.keyValue(of: id) }

    /// An identifier as what tells models apart.
    ///
    /// - Throws: ``PersistenceError`` for an identifier that is no single value.
    static func recordKey(of id: ID) throws -> RecordKey {
        // The type is the same then; a cast would find that out once more, slowly.
        if ID.self == String.self { return .string(unsafeBitCast(id, to: String.self)) }
        if ID.self == Int.self { return .integer(Int64(unsafeBitCast(id, to: Int.self))) }
        if ID.self == UUID.self { return .uuid(unsafeBitCast(id, to: UUID.self)) }
        return RecordKey(attributeValue: try keyValue(of: id))
    }

    /// An identifier as its attribute holds it.
    package static func keyValue(of id: ID) throws -> Any {
        // The type is the same then; a cast would find that out once more, slowly.
        if ID.self == String.self { return unsafeBitCast(id, to: String.self) }
        if ID.self == Int.self { return unsafeBitCast(id, to: Int.self) }
        if ID.self == UUID.self { return unsafeBitCast(id, to: UUID.self) }
        do {
            if let value = try AttributeEncoder.comparable(id) { return value }
        } catch {
            throw PersistenceError.unwritable(
                entity: "\(Self.self)", uid: "\(id)", key: "id", reason: error.encodingReason)
        }
        throw PersistenceError.unwritable(
            entity: "\(Self.self)", uid: "\(id)", key: "id",
            reason: "an identifier that is nothing tells nothing apart.")
    }
}
