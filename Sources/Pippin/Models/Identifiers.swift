import StoreSession

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
        if ID.self == UUID.self { return .uuid(unsafeBitCast(id, to: UUID.self)) }
        return RecordKey(attributeValue: try keyValue(of: id))
    }

    /// An identifier in the form that its attribute holds.
    package static func keyValue(of id: ID) throws -> Any {
        // The types are the same here. A cast would check that again, slowly.
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
