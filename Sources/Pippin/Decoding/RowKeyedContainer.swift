import StoreSession

/// Gives a row's values by key.
struct RowKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    // The standard library copies the container for each value, which must not count references. `RowDecoder.finish()`
    // ensures that the decoder outlives the container.
    private let unretained: Unmanaged<RowDecoder>
    private let place: FieldPlace

    init(_ decoder: RowDecoder, _ place: FieldPlace) {
        unretained = .passUnretained(decoder)
        self.place = place
    }

    private var decoder: RowDecoder { unretained.takeUnretainedValue() }

    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] { decoder.record.fields.filter { $0.mark == nil }.compactMap { Key(stringValue: $0.key) } }

    func contains(_ key: Key) -> Bool { decoder.record.keys.contains(key.stringValue) }

    /// The field of a key; -1 for a key that the record does not have.
    @inline(__always)
    private func column(_ key: Key) -> Int {
        place(key) { name in decoder.record.index(of: name, cursor: &decoder.cursor) }
    }

    /// Reads the value of a key that must be there.
    @inline(__always)
    private func required<Value>(_ key: Key, _ read: (borrowing ColumnReader, Int) throws -> Value) throws -> Value {
        let column = column(key)
        guard column >= 0 else { throw decoder.missing(key.stringValue, .null, Value.self) }
        return try self.read(column, read)
    }

    /// Reads the value of a key; nil for a key that the record does not have.
    @inline(__always)
    private func optional<Value>(_ key: Key, _ read: (borrowing ColumnReader, Int) throws -> Value?) throws -> Value? {
        let column = column(key)
        return column < 0 ? nil : try self.read(column, read)
    }

    @inline(__always)
    private func read<Value>(
        _ column: Int, _ body: (borrowing ColumnReader, Int) throws -> Value
    ) throws -> Value {
        guard let kept = unretained._withUnsafeGuaranteedRef({ $0.reader }) else { throw decoder.finished }
        return try kept._withUnsafeGuaranteedRef { try body($0.reader, column) }
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        let column = column(key)
        guard column >= 0 else { return true }
        let (slot, field) = (decoder.slots[column], decoder.record.fields[column])
        // A nested value that is not optional exists even without values.
        if case .composite = field.kind, !field.isOptional { return false }
        return try slot >= 0 && decoder.value(at: slot).isNull
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String { try required(key) { try $0.value(at: $1) } }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try required(key) { try $0.value(at: $1) } }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try required(key) { try $0.value(at: $1) } }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try required(key) { try $0.value(at: $1) } }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try required(key) { try $0.value(at: $1) } }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try required(key) { try $0.value(at: $1) } }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try required(key) { try $0.value(at: $1) } }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try required(key) { try $0.value(at: $1) } }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try required(key) { try $0.value(at: $1) } }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try required(key) { try $0.value(at: $1) } }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try required(key) { try $0.value(at: $1) } }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try required(key) { try $0.value(at: $1) } }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try required(key) { try $0.value(at: $1) } }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try required(key) { try $0.value(at: $1) } }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if Value.self == Date.self {
            let date: Date = try required(key) { try $0.value(at: $1) }
            // The types are the same, as was just checked. A cast would check again, slowly.
            return unsafeBitCast(date, to: Value.self)
        }
        return try decodeOther(type, key)
    }

    /// This is a function of its own, so that dates do not pay for looking up the type of an optional value.
    @inline(never)
    private func decodeOther<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        try required(key) { try $0.value(at: $1) }
    }

    // The usual optionals, with one look-up; the others go through `decodeNil`.

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try optional(key) { try $0.value(at: $1) }
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try optional(key) { try $0.value(at: $1) }
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try optional(key) { try $0.value(at: $1) }
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try optional(key) { try $0.value(at: $1) }
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try optional(key) { try $0.value(at: $1) }
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        if Value.self == Date.self {
            let date: Date? = try optional(key) { try $0.value(at: $1) }
            guard let date else { return nil }
            // The types are the same, as was just checked. A cast would check again, slowly.
            return unsafeBitCast(date, to: Value.self)
        }
        return try optional(key) { try $0.value(at: $1) }
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
