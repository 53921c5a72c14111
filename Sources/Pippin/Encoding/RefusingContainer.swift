/// Where a model's coding has no place: a list, or a single value, for the model itself.
struct RefusingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let record: String
    let codingPath: [any CodingKey] = []
    let count = 0

    func encodeNil() throws { throw refusal }
    func encode<Value: Encodable>(_ value: Value) throws { throw refusal }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RecordEncodingContainer<Key>(encoder: RecordEncoder(.empty)))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { RecordEncoder(.empty) }

    private var refusal: EncodingError {
        RecordEncoder.refusal("“\(record)” encodes a value without a key of its own. Give each of its values one.")
    }
}
