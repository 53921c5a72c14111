/// An empty array that still returns made-up elements to a type that decodes them without checking the count, such as a
/// range or a point.
struct ProbeUnkeyedContainer: UnkeyedDecodingContainer {
    /// Knows the types around it.
    let probe: TypeProbe
    let codingPath: [any CodingKey] = []
    let count: Int? = 0
    let isAtEnd = true
    let currentIndex = 0

    func decodeNil() throws -> Bool { true }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // Always the same number, so that the bounds of a range are in order.
        if let number = type as? any BinaryInteger.Type, let one = one(number) as? Value { return one }
        if let kind = AttributeKind(of: type), let value = probe.values.value(of: kind) as? Value { return value }
        if let sample = SampleValue.untried(type) { return sample }
        guard !probe.path.contains(ObjectIdentifier(type)) else { throw end }
        return try Value(from: TypeProbe(type, within: probe))
    }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try superDecoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { self }
    func superDecoder() throws -> any Decoder { TypeProbe(Any.self, within: probe) }

    private func one<Number: BinaryInteger>(_ type: Number.Type) -> Any { Number(1) }

    private var end: DecodingError {
        .valueNotFound(Any.self, DecodingError.Context(codingPath: [], debugDescription: "The array has no elements."))
    }
}
