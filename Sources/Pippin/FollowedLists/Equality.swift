/// Whether two values are equal: by their own `==`, or else by what they encode. Values that can do neither never are.
func areEqual<Value>(_ one: Value, _ other: Value) -> Bool {
    if let one = one as? any Equatable { return equals(one, other) }
    guard let one = one as? any Encodable, let other = other as? any Encodable else { return false }
    do { return try EncodedParts(one).isSame(as: EncodedParts(other)) } catch { return false }
}

private func equals<Value: Equatable>(_ one: Value, _ other: Any) -> Bool { (other as? Value) == one }

/// What a value encodes, as a list: its equatable parts, with the keys and containers around them.
private final class EncodedParts: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var parts: [any Equatable] = []
    private var depth = 0
    /// Each level takes a part of the thread's stack.
    private static let deepest = 200

    init(_ value: any Encodable) throws { try add(value) }

    func isSame(as other: EncodedParts) -> Bool {
        guard parts.count == other.parts.count else { return false }
        for (part, othersPart) in zip(parts, other.parts) where !equals(part, othersPart) { return false }
        return true
    }

    fileprivate func add(_ value: some Encodable) throws {
        if let part = value as? any Equatable { return parts.append(part) }
        guard depth < Self.deepest else { throw EncodingError.refusal("The value is too deep to be compared.") }
        depth += 1
        defer { depth -= 1 }
        try value.encode(to: self)
    }

    fileprivate func mark(_ part: String) { parts.append(part) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        mark("{")
        return KeyedEncodingContainer(KeyedParts<Key>(parts: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        mark("[")
        return ListedParts(parts: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { ListedParts(parts: self) }
}

private struct ListedParts: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let parts: EncodedParts
    let codingPath: [any CodingKey] = []
    private(set) var count = 0

    init(parts: EncodedParts) { self.parts = parts }

    mutating func encodeNil() {
        parts.mark("nil")
        count += 1
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try parts.add(value)
        count += 1
    }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        parts.container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { parts.unkeyedContainer() }
    func superEncoder() -> any Encoder { parts }
}

private struct KeyedParts<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let parts: EncodedParts
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) {
        parts.mark(key.stringValue)
        parts.mark("nil")
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        parts.mark(key.stringValue)
        try parts.add(value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        parts.mark(key.stringValue)
        return parts.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        parts.mark(key.stringValue)
        return parts.unkeyedContainer()
    }

    func superEncoder() -> any Encoder { parts }
    func superEncoder(forKey key: Key) -> any Encoder {
        parts.mark(key.stringValue)
        return parts
    }
}
