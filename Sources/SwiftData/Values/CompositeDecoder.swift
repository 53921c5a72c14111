import CoreData

/// Reads a value by its coding from the elements of a composite attribute.
struct CompositeDecoder: Decoder {
    fileprivate let elements: [String: Any]
    fileprivate let shape: CompositeShape
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The value of elements.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - elements: the elements that have values, in key-value coding.
    ///   - shape: all elements.
    /// - Returns: the value.
    /// - Throws: the errors of the value's coding.
    static func value<Value: Decodable>(
        _ type: Value.Type, of elements: [String: Any], _ shape: CompositeShape
    ) throws -> Value {
        if shape.kind == .rawValue, let element = shape.elements.first {
            guard let object = elements[element.name], let raw = type as? any RawRepresentable.Type,
                let value = enumeration(raw, object) as? Value
            else { throw missing("no case has the raw value \(elements[element.name] ?? "nil")") }
            return value
        }
        return try Value(from: CompositeDecoder(elements: elements, shape: shape))
    }

    private static func enumeration<Enumeration: RawRepresentable>(
        _ type: Enumeration.Type, _ object: Any
    ) -> Enumeration? {
        guard let primitive = Enumeration.RawValue.self as? any StoredPrimitive.Type,
            let raw = primitive.init(object: object) as? Enumeration.RawValue
        else { return nil }
        return Enumeration(rawValue: raw)
    }

    fileprivate static func missing(_ reason: String) -> DecodingError {
        DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: reason))
    }

    fileprivate func value<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value {
        guard let element = shape.element(codedAs: name), case .value(let content) = element.content else {
            throw Self.missing("“\(name)” is not a stored property")
        }
        guard let object = elements[element.name] ?? content.emptyObject else {
            throw Self.missing("“\(name)” has no value")
        }
        switch content {
        case .primitive:
            if let primitive = type as? any StoredPrimitive.Type, let value = primitive.init(object: object) as? Value {
                return value
            }
        case .composite(let inner):
            if let elements = object as? [String: Any] { return try Self.value(type, of: elements, inner) }
        case .archive, .json, .transformable:
            if let data = object as? Data { return try JSONCoding.value(type, in: data) }
        }
        throw Self.missing("“\(name)” has the value \(object), which is not of the type \(type)")
    }

    fileprivate func hasValue(_ name: String) -> Bool {
        shape.element(codedAs: name).map { elements[$0.name] != nil } ?? false
    }

    /// The decoder of a case's associated values; empty for a case without.
    fileprivate func decoder(ofCase name: String) -> CompositeDecoder {
        guard let element = shape.element(codedAs: name), case .value(.composite(let inner)) = element.content else {
            return CompositeDecoder(elements: [:], shape: shape)
        }
        return CompositeDecoder(elements: elements[element.name] as? [String: Any] ?? [:], shape: inner)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(CompositeKeyedDecoding<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { CompositeListDecoding(decoder: self) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { CompositeSingleDecoding(decoder: self) }
}

extension AttributeShape {
    /// A composite value of which all elements are NULL, in key-value coding.
    fileprivate var emptyObject: Any? { if case .composite = self { [String: Any]() } else { nil } }
}

private struct CompositeKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: CompositeDecoder
    let names = CodedNames<Key>()
    var codingPath: [any CodingKey] { [] }

    /// Only enumerations ask: the case that holds.
    var allKeys: [Key] {
        decoder.shape.elements.filter { decoder.elements[$0.name] != nil }.compactMap { names.key(of: $0.name) }
    }

    func contains(_ key: Key) -> Bool { decoder.hasValue(names.name(of: key)) }
    func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder.value(type, names.name(of: key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder.decoder(ofCase: names.name(of: key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder.decoder(ofCase: names.name(of: key)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { decoder.decoder(ofCase: names.name(of: key)) }
}

private struct CompositeListDecoding: UnkeyedDecodingContainer {
    let decoder: CompositeDecoder
    var codingPath: [any CodingKey] { [] }
    var count: Int? { decoder.shape.elements.count }
    var isAtEnd: Bool { currentIndex >= decoder.shape.elements.count }
    private(set) var currentIndex = 0

    init(decoder: CompositeDecoder) { self.decoder = decoder }

    private mutating func next() throws -> String {
        guard !isAtEnd else { throw CompositeDecoder.missing("there are no more elements") }
        currentIndex += 1
        return decoder.shape.elements[currentIndex - 1].name
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, !decoder.hasValue(decoder.shape.elements[currentIndex].name) else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(type, next()) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try decoder.decoder(ofCase: next()).container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try decoder.decoder(ofCase: next()).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { decoder }
}

/// The value of a type that is coded as a single one is that of its only element.
private struct CompositeSingleDecoding: SingleValueDecodingContainer {
    let decoder: CompositeDecoder
    var codingPath: [any CodingKey] { [] }

    private var name: String { decoder.shape.elements.first?.name ?? "" }

    func decodeNil() -> Bool { !decoder.hasValue(name) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(type, name) }
}
