/// Whether two values are equal: by their own `==`, or else by what they encode. Values that can do neither never are.
func areEqual<Value>(_ one: Value, _ other: Value) -> Bool {
    if let one = one as? any Equatable { return equals(one, other) }
    guard let one = one as? any Encodable, let other = other as? any Encodable else { return false }
    do { return try EncodedParts(one).isSame(as: EncodedParts(other)) } catch { return false }
}

private func equals<Value: Equatable>(_ one: Value, _ other: Any) -> Bool { (other as? Value) == one }

/// What is between the equatable parts of an encoded value.
private enum EncodedMark: Equatable {
    /// The beginning of a container, which is made by another one, or by the value in it.
    case keyed, listed, single
    case key(String)
    case null
    /// A value that is encoded by parts of its own.
    case value
    /// Whatever a superclass encodes.
    case superclass
}

/// What a value encodes, as a list: its equatable parts and the marks between them, each with the number of its
/// container.
private final class EncodedParts: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var parts: [(container: Int, content: any Equatable)] = []
    private var containers = 0
    private var depth = 0
    /// Each level takes a part of the thread's stack.
    private static let deepest = 200

    init(_ value: any Encodable) throws { try add(value, to: 0) }

    func isSame(as other: EncodedParts) -> Bool {
        guard parts.count == other.parts.count else { return false }
        for (part, othersPart) in zip(parts, other.parts) {
            guard part.container == othersPart.container, equals(part.content, othersPart.content) else { return false }
        }
        return true
    }

    fileprivate func add(_ value: some Encodable, to container: Int) throws {
        if let part = value as? any Equatable { return parts.append((container, part)) }
        guard depth < Self.deepest else { throw EncodingError.refusal("The value is too deep to be compared.") }
        depth += 1
        defer { depth -= 1 }
        mark(.value, in: container)
        try value.encode(to: self)
    }

    fileprivate func mark(_ mark: EncodedMark, in container: Int) { parts.append((container, mark)) }

    /// Begins a container.
    ///
    /// - Returns: its number.
    fileprivate func begin(_ mark: EncodedMark) -> Int {
        containers += 1
        self.mark(mark, in: containers)
        return containers
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedParts<Key>(parts: self, number: begin(.keyed)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { ListedParts(parts: self, number: begin(.listed)) }

    func singleValueContainer() -> any SingleValueEncodingContainer { ListedParts(parts: self, number: begin(.single)) }
}

private struct ListedParts: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let parts: EncodedParts
    let number: Int
    let codingPath: [any CodingKey] = []
    private(set) var count = 0

    init(parts: EncodedParts, number: Int) { (self.parts, self.number) = (parts, number) }

    mutating func encodeNil() {
        parts.mark(.null, in: number)
        count += 1
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try parts.add(value, to: number)
        count += 1
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        beginNested(.value)
        return parts.container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        beginNested(.value)
        return parts.unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        beginNested(.superclass)
        return parts
    }

    private mutating func beginNested(_ mark: EncodedMark) {
        parts.mark(mark, in: number)
        count += 1
    }
}

private struct KeyedParts<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let parts: EncodedParts
    let number: Int
    let codingPath: [any CodingKey] = []

    private func mark(_ key: Key) { parts.mark(.key(key.stringValue), in: number) }

    func encodeNil(forKey key: Key) {
        mark(key)
        parts.mark(.null, in: number)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        mark(key)
        try parts.add(value, to: number)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        mark(key)
        return parts.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        mark(key)
        return parts.unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        parts.mark(.superclass, in: number)
        return parts
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        mark(key)
        return parts
    }
}
