import CoreData

/// Makes a value of a type of which the store has none that can be read: with zeros, empty texts and collections, and
/// the first case of an enumeration.
enum EmptyValue {
    /// - Returns: nil for a type that does not decode any such value.
    static func value<Value>(of type: Value.Type) -> Value? {
        if let primitive = type as? any StoredPrimitive.Type { return primitive.absent as? Value }
        if let first = TypeFields.cases(of: type)?.first?.value { return first }
        return (type as? any Decodable.Type).flatMap { decoded($0) } as? Value
    }

    private static func decoded<Value: Decodable>(_ type: Value.Type) -> Value? {
        try? Value(from: EmptyDecoder(depth: 0))
    }
}

/// Answers every question of a type's coding with an empty value.
private struct EmptyDecoder: Decoder {
    /// How many values this one is in: a type that contains itself has no empty value.
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(EmptyKeys<Key>(depth: depth))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { EmptyList() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { EmptySingle(depth: depth) }

    static func value<Value: Decodable>(_ type: Value.Type, _ depth: Int) throws -> Value {
        if let primitive = type as? any StoredPrimitive.Type, let value = primitive.absent as? Value { return value }
        if let first = TypeFields.cases(of: type)?.first?.value { return first }
        guard depth < 32 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "\(type) contains itself."))
        }
        return try Value(from: EmptyDecoder(depth: depth + 1))
    }
}

private struct EmptyKeys<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    /// Of the keys of an enumeration with associated values, one must be there.
    var allKeys: [Key] { TypeFields.cases(of: Key.self)?.first.map { [$0.value] } ?? [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { true }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try EmptyDecoder.value(type, depth)
    }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { KeyedDecodingContainer(EmptyKeys<Nested>(depth: depth)) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { EmptyList() }
    func superDecoder() throws -> any Decoder { EmptyDecoder(depth: depth) }
    func superDecoder(forKey key: Key) throws -> any Decoder { EmptyDecoder(depth: depth) }
}

private struct EmptyList: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    private var end: DecodingError {
        DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: "The list is empty."))
    }
    func decodeNil() throws -> Bool { throw end }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { throw end }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        throw end
    }
    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw end }
    func superDecoder() throws -> any Decoder { throw end }
}

private struct EmptySingle: SingleValueDecodingContainer {
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { true }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try EmptyDecoder.value(type, depth) }
}
