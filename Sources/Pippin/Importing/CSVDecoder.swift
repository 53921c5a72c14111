/// Decodes a model from a row of a CSV file, or a property from one of its columns.
struct CSVDecoder: Decoder {
    let row: CSVRow
    /// The column of the property; nil for the whole row.
    let column: String?
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(
            CSVKeyedContainer<Key>(row: row, prefix: column.map { "\($0)." } ?? "", codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DecodingError.dataCorrupted(
            .init(codingPath: codingPath, debugDescription: "A list must be written as JSON, such as [1, 2]."))
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        CSVValueContainer(row: row, column: column ?? "", codingPath: codingPath)
    }
}

/// The columns of a row, by key.
private struct CSVKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: CSVRow
    let prefix: String
    let codingPath: [any CodingKey]

    var allKeys: [Key] { Set(row.filled.compactMap(key)).compactMap(Key.init(stringValue:)) }

    private func key(of column: String) -> String? {
        guard column.hasPrefix(prefix) else { return nil }
        return column.dropFirst(prefix.count).split(separator: ".").first.map(String.init)
    }

    private func column(_ key: Key) -> String { prefix + key.stringValue }
    private func path(_ key: Key) -> [any CodingKey] { codingPath + [key] }

    /// The column of a required value. Empty fields make a struct if it requires none of them, but no model.
    private func required(_ key: Key, isModel: Bool = false) throws -> String {
        let column = column(key)
        if row.has(column) || !isModel && row.hasColumns(within: column) { return column }
        throw DecodingError.keyNotFound(
            key, .init(codingPath: codingPath, debugDescription: "The column “\(column)” is empty, or there is none."))
    }

    private func integer<Value: FixedWidthInteger>(_ key: Key) throws -> Value {
        try row.integer(try required(key), path(key))
    }

    func contains(_ key: Key) -> Bool { row.has(column(key)) }
    func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try row.boolean(try required(key), path(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try row.floating(try required(key), path(key))
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try row.floating(try required(key), path(key)) }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        if row.hasEmptyText(column(key)) { return "" }
        return try row.string(try required(key), path(key))
    }

    /// An empty text in quotes is a value for a `String`, and no value for any other type.
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        if row.hasEmptyText(column(key)) { return "" }
        return contains(key) ? try decode(type, forKey: key) : nil
    }

    /// A struct whose only values are empty texts in quotes is a value if these are all that it requires: programs that
    /// put each field in quotes write a struct that is not there so, too. A model needs more, such as an identifier.
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        if contains(key) { return try decode(type, forKey: key) }
        guard !(type is any CoreModel.Type), row.hasEmptyText(within: column(key)) else { return nil }
        do { return try decode(type, forKey: key) } catch DecodingError.keyNotFound, DecodingError.valueNotFound {
            return nil
        }
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if let optional = try codedOptional(type, forKey: key) { return optional }
        return try row.value(type, try required(key, isModel: type is any CoreModel.Type), path(key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(
            CSVKeyedContainer<Nested>(row: row, prefix: "\(try required(key)).", codingPath: path(key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try CSVDecoder(row: row, column: column(key), codingPath: path(key)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { CSVDecoder(row: row, column: nil, codingPath: codingPath) }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        CSVDecoder(row: row, column: column(key), codingPath: path(key))
    }
}

/// One column of a row, for types that wrap a single value.
private struct CSVValueContainer: SingleValueDecodingContainer {
    let row: CSVRow
    let column: String
    let codingPath: [any CodingKey]

    private func integer<Value: FixedWidthInteger>() throws -> Value { try row.integer(column, codingPath) }

    func decodeNil() -> Bool { !row.has(column) }
    func decode(_ type: Bool.Type) throws -> Bool { try row.boolean(column, codingPath) }
    func decode(_ type: String.Type) throws -> String { try row.string(column, codingPath) }
    func decode(_ type: Double.Type) throws -> Double { try row.floating(column, codingPath) }
    func decode(_ type: Float.Type) throws -> Float { try row.floating(column, codingPath) }
    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try row.value(type, column, codingPath) }
}
