import StoreSession

/// Decodes a value that is stored in one attribute.
enum AttributeDecoder {
    /// A value of one of the Foundation types that are attributes here; nil for another type, or for a value of another
    /// kind.
    @inline(__always)
    static func leaf<Value>(_ type: Value.Type, _ value: StoredValue) -> Value? {
        switch value {
        case .date(let seconds) where Value.self == Date.self:
            // The types are the same, as was just checked. A cast would check again, slowly.
            return unsafeBitCast(Date(timeIntervalSinceReferenceDate: seconds), to: Value.self)
        case .uuid(let uuid) where Value.self == UUID.self: return unsafeBitCast(uuid, to: Value.self)
        case .data(let data) where Value.self == Data.self: return unsafeBitCast(data, to: Value.self)
        case .object(let object) where Value.self == URL.self:
            return (object as? NSURL).map { unsafeBitCast($0 as URL, to: Value.self) }
        case .object(let object) where Value.self == Decimal.self:
            return (object as? NSDecimalNumber).map { unsafeBitCast($0.decimalValue, to: Value.self) }
        default: return nil
        }
    }

    /// A value of any type that is stored in one attribute.
    ///
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value that the type does not accept, such as a case that an
    ///   enumeration does not have; the error names the property.
    static func value<Value: Decodable>(
        _ type: Value.Type, _ stored: StoredValue, entity: String, key: @autoclosure () -> String
    ) throws -> Value {
        // The types are the same where a value is taken for one of another type, as is checked first. A cast would
        // check again, slowly; and Swift would look up `Value?` anew for each value.
        switch stored {
        case .string(let text):
            if Value.self == String.self { return unsafeBitCast(text, to: Value.self) }
            if Value.self == String?.self { return unsafeBitCast(Optional(text), to: Value.self) }
        case .integer(let number):
            if Value.self == Int.self { return unsafeBitCast(Int(number), to: Value.self) }
            if Value.self == Int?.self { return unsafeBitCast(Optional(Int(number)), to: Value.self) }
            if Value.self == Bool.self { return unsafeBitCast(number != 0, to: Value.self) }
        case .double(let number):
            if Value.self == Double.self { return unsafeBitCast(number, to: Value.self) }
            if Value.self == Double?.self { return unsafeBitCast(Optional(number), to: Value.self) }
        case .date(let seconds):
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            if Value.self == Date.self { return unsafeBitCast(date, to: Value.self) }
            if Value.self == Date?.self { return unsafeBitCast(Optional(date), to: Value.self) }
        case .uuid(let uuid):
            if Value.self == UUID.self { return unsafeBitCast(uuid, to: Value.self) }
            if Value.self == UUID?.self { return unsafeBitCast(Optional(uuid), to: Value.self) }
        case .null:
            if Value.self == String?.self { return unsafeBitCast(String?.none, to: Value.self) }
            if Value.self == Int?.self { return unsafeBitCast(Int?.none, to: Value.self) }
            if Value.self == Double?.self { return unsafeBitCast(Double?.none, to: Value.self) }
            if Value.self == Date?.self { return unsafeBitCast(Date?.none, to: Value.self) }
        default: break
        }
        return try coded(type, stored, entity, key())
    }

    /// A value that its type decodes.
    private static func coded<Value: Decodable>(
        _ type: Value.Type, _ stored: StoredValue, _ entity: String, _ key: String
    ) throws -> Value {
        if let leaf = leaf(type, stored) { return leaf }
        do { return try Value(from: ValueDecoder(value: stored, entity: entity, key: key)) } catch let error
            as DecodingError
        {
            throw PersistenceError.unreadable(
                entity: entity, key: key, reason: error.decodingReason, underlying: error)
        }
    }
}

/// Decodes a type from a single value, such as an enumeration from its raw value. It is a class, since a struct would
/// be copied to new memory twice for each value: as the decoder, and as its container.
final class ValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: StoredValue
    let entity: String
    let key: String

    init(value: StoredValue, entity: String, key: String) {
        (self.value, self.entity, self.key) = (value, entity, key)
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw unreadable(Any.self)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unreadable([Any].self) }

    private func unreadable(_ type: Any.Type) -> PersistenceError {
        .unreadable(entity: entity, key: key, reason: "\(value) is not of type \(type).")
    }

    private func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
        guard case .integer(let number) = value, let fitting = Value(exactly: number) else { throw unreadable(type) }
        return fitting
    }

    func decodeNil() -> Bool { value.isNull }

    func decode(_ type: Bool.Type) throws -> Bool { try integer(Int.self) != 0 }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let string) = value else { throw unreadable(type) }
        return string
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard case .double(let number) = value else { throw unreadable(type) }
        return number
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let leaf = AttributeDecoder.leaf(type, value) { return leaf }
        return try Value(from: self)
    }
}
