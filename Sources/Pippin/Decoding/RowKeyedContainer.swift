import CoreData

/// Gives a row's values by key.
struct RowKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    // The standard library copies the container for each value, which shall count no references; `RowDecoder.finish()` sees
    // to it that the decoder outlives the container.
    private let unretained: Unmanaged<RowDecoder>

    init(_ decoder: RowDecoder) { unretained = .passUnretained(decoder) }

    private var decoder: RowDecoder { unretained.takeUnretainedValue() }

    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] { decoder.record.fields.filter { $0.mark == nil }.compactMap { Key(stringValue: $0.key) } }

    func contains(_ key: Key) -> Bool { decoder.record.keys.contains(key.stringValue) }

    func decodeNil(forKey key: Key) throws -> Bool {
        var cursor = decoder.cursor
        guard let index = decoder.record.index(of: key.stringValue, cursor: &cursor) else { return true }
        let (slot, field) = (decoder.slots[index], decoder.record.fields[index])
        // A nested value that cannot be missing is there without values, too.
        if case .composite = field.kind, !field.isOptional { return false }
        return try slot >= 0 && decoder.value(at: slot).isNull
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        if let string = try unretained._withUnsafeGuaranteedRef({ try $0.string(key.stringValue) }) { return string }
        throw decoder.missing(key.stringValue, .null, type)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        if let number = try unretained._withUnsafeGuaranteedRef({ try $0.integer(key.stringValue) }) {
            return number != 0
        }
        throw decoder.missing(key.stringValue, .null, type)
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        if let number = try unretained._withUnsafeGuaranteedRef({ try $0.double(key.stringValue) }) { return number }
        throw decoder.missing(key.stringValue, .null, type)
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        if let number = try unretained._withUnsafeGuaranteedRef({ try $0.integer(key.stringValue) }) {
            return Int(truncatingIfNeeded: number)
        }
        throw decoder.missing(key.stringValue, .null, type)
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { Float(try decode(Double.self, forKey: key)) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder.integer(key.stringValue, type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decoder.integer(key.stringValue, type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decoder.integer(key.stringValue, type) }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        if let number = try unretained._withUnsafeGuaranteedRef({ try $0.integer(key.stringValue) }) { return number }
        throw decoder.missing(key.stringValue, .null, type)
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder.integer(key.stringValue, type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder.integer(key.stringValue, type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder.integer(key.stringValue, type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder.integer(key.stringValue, type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder.integer(key.stringValue, type) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if Value.self == Date.self {
            let date = try unretained._withUnsafeGuaranteedRef { try $0.date(key.stringValue) }
            guard let date else { throw decoder.missing(key.stringValue, .null, type) }
            // The same type, as was just found out: a cast would do so once more, slowly.
            return unsafeBitCast(date, to: Value.self)
        }
        return try decodeOther(type, key)
    }

    /// Apart, so that dates do not pay for looking up the type of an optional value.
    @inline(never)
    private func decodeOther<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        if Value.self == UUID.self {
            let value = try decoder.value(at: decoder.slot(key.stringValue))
            guard case .uuid(let uuid) = value else { throw decoder.missing(key.stringValue, value, type) }
            return unsafeBitCast(uuid, to: Value.self)
        }
        if let value = try decoder.other(type, key.stringValue) { return value }
        throw decoder.missing(key.stringValue, .null, type)
    }

    // The usual optionals, looked up once; the rest goes through `decodeNil`.

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try unretained._withUnsafeGuaranteedRef { try $0.string(key.stringValue) }
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try unretained._withUnsafeGuaranteedRef { try $0.integer(key.stringValue) }.map { Int(truncatingIfNeeded: $0) }
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try unretained._withUnsafeGuaranteedRef { try $0.double(key.stringValue) }
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try unretained._withUnsafeGuaranteedRef { try $0.integer(key.stringValue) }.map { $0 != 0 }
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try unretained._withUnsafeGuaranteedRef { try $0.integer(key.stringValue) }
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        if Value.self == Date.self {
            guard let date = try unretained._withUnsafeGuaranteedRef({ try $0.date(key.stringValue) }) else {
                return nil
            }
            // The same type, as was just found out: a cast would do so once more, slowly.
            return unsafeBitCast(date, to: Value.self)
        }
        return try unretained._withUnsafeGuaranteedRef { try $0.other(type, key.stringValue) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw nested(key) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw nested(key) }
    func superDecoder() throws -> any Decoder {
        throw decoder.unreadable("super", "a model has no superclass's coding.")
    }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw nested(key) }

    private func nested(_ key: Key) -> PersistenceError {
        decoder.unreadable(key.stringValue, "nested containers are not kept. Make it a Codable type of its own.")
    }
}
