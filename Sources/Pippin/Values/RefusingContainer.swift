/// Refuses values that do not fit a model's coding: a list, a single value, or keyed values where a single one is
/// stored.
struct RefusingEncoder: Encoder {
    let record: String
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusingKeyedContainer<Key>(record: record))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer(record: record) }
    func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer(record: record) }
}

/// Takes no value.
struct RefusingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let record: String
    let codingPath: [any CodingKey] = []
    let count = 0

    func encodeNil() throws { throw refusal }
    func encode<Value: Encodable>(_ value: Value) throws { throw refusal }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusingKeyedContainer<Key>(record: record))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { RefusingEncoder(record: record) }

    private var refusal: EncodingError {
        .refusal("“\(record)” encodes a value without a key of its own. Give each of its values one.")
    }
}

/// Takes no value by key.
struct RefusingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let record: String
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) throws { throw refusal(key) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { throw refusal(key) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(RefusingKeyedContainer<Nested>(record: record)) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusingContainer(record: record) }
    func superEncoder() -> any Encoder { RefusingEncoder(record: record) }
    func superEncoder(forKey key: Key) -> any Encoder { RefusingEncoder(record: record) }

    private func refusal(_ key: Key) -> EncodingError {
        .refusal("“\(record)” encodes “\(key.stringValue)”, which it does not decode.")
    }
}

extension EncodingError {
    /// The error for a value that is not stored.
    static func refusal(_ text: String) -> EncodingError {
        .invalidValue(text, Context(codingPath: [], debugDescription: text))
    }

    /// Whether it is such an error.
    var isRefusal: Bool {
        guard case .invalidValue(let text as String, let context) = self else { return false }
        return text == context.debugDescription
    }
}
