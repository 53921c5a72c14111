import CoreData
import Synchronization

/// Writes the coding of a value as the elements of a composite attribute.
///
/// An element has the name of a stored property or of a case. Coding keys with other texts are cases of an enumeration,
/// whose names count.
final class CompositeEncoder: Encoder {
    private let shape: CompositeShape
    private(set) var elements: [String: Any] = [:]
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    /// The elements of associated values, by the case that has them.
    private var nested: (name: String, encoder: CompositeEncoder)?
    private var count = 0

    private init(_ shape: CompositeShape) { self.shape = shape }

    /// The values of the elements, in key-value coding.
    ///
    /// - Throws: the errors of the value's coding, and one for a value whose coding does not fit the elements.
    static func elements<Value: Encodable>(of value: Value, _ shape: CompositeShape) throws -> [String: Any] {
        if shape.kind == .rawValue, let element = shape.elements.first {
            guard let raw = (value as? any RawRepresentable)?.rawValue as? any StoredPrimitive else {
                throw mismatch(value, "has no raw value")
            }
            return [element.name: raw.object]
        }
        let encoder = CompositeEncoder(shape)
        try value.encode(to: encoder)
        return encoder.finished
    }

    private var finished: [String: Any] {
        guard let nested else { return elements }
        return elements.merging([nested.name: nested.encoder.finished]) { _, new in new }
    }

    private static func mismatch(_ value: Any, _ reason: String) -> EncodingError {
        EncodingError.invalidValue(
            value, EncodingError.Context(codingPath: [], debugDescription: "A \(type(of: value)) \(reason)."))
    }

    fileprivate func set<Value: Encodable>(_ value: Value, _ name: String) throws {
        guard let element = shape.element(codedAs: name) else {
            throw Self.mismatch(value, "is encoded for “\(name)”, which is not a stored property")
        }
        guard case .value(let content) = element.content else { return elements[element.name] = element.name }
        elements[element.name] = try content.object(of: value)
    }

    fileprivate func setNext<Value: Encodable>(_ value: Value) throws {
        guard count < shape.elements.count else {
            throw Self.mismatch(value, "is one value more than there are elements")
        }
        let name = shape.elements[count].name
        count += 1
        try set(value, name)
    }

    /// The encoder of a case's associated values; the case itself has its name as its value.
    fileprivate func encoder(ofCase name: String) -> CompositeEncoder {
        guard let element = shape.element(codedAs: name), case .value(.composite(let inner)) = element.content else {
            elements[name] = name
            return CompositeEncoder(shape)
        }
        let encoder = CompositeEncoder(inner)
        nested = (element.name, encoder)
        return encoder
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(CompositeKeyedEncoding<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { CompositeListEncoding(encoder: self) }

    func singleValueContainer() -> any SingleValueEncodingContainer { CompositeListEncoding(encoder: self) }
}

extension AttributeShape {
    /// The value of an element, in key-value coding.
    func object<Value: Encodable>(of value: Value) throws -> Any {
        switch self {
        case .primitive: if let primitive = value as? any StoredPrimitive { return primitive.object }
        case .composite(let shape): return try CompositeEncoder.elements(of: value, shape)
        case .archive, .json, .transformable: return try JSONCoding.data(of: value)
        }
        throw EncodingError.invalidValue(
            value, EncodingError.Context(codingPath: [], debugDescription: "\(value) is of another type."))
    }
}

/// Nested values as JSON, as `JSONEncoder` writes it, with keys in order so that equal values have equal bytes.
enum JSONCoding {
    static func data<Value: Encodable>(of value: Value) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(value)
    }

    static func value<Value: Decodable>(_ type: Value.Type, in data: Data) throws -> Value {
        try JSONDecoder().decode(type, from: data)
    }
}

/// The names of the elements that coding keys stand for.
struct CodedNames<Key: CodingKey> {
    /// The names of an enumeration's cases by the texts of its keys; empty for other keys.
    private let names: [String: String]

    init() {
        names = CodedNamesCache.names(of: ObjectIdentifier(Key.self)) {
            let cases = TypeFields.cases(of: Key.self) ?? []
            return Dictionary(cases.map { ($0.value.stringValue, $0.name) }, uniquingKeysWith: { first, _ in first })
        }
    }

    func name(of key: Key) -> String { names[key.stringValue] ?? key.stringValue }

    /// The key of an element; nil if there is none.
    func key(of name: String) -> Key? {
        Key(stringValue: names.first { $0.value == name }?.key ?? name)
    }
}

private enum CodedNamesCache {
    private static let known = Mutex<[ObjectIdentifier: [String: String]]>([:])

    static func names(of type: ObjectIdentifier, _ make: () -> [String: String]) -> [String: String] {
        if let names = known.withLock({ $0[type] }) { return names }
        let names = make()
        known.withLock { $0[type] = names }
        return names
    }
}

extension CompositeShape {
    /// The element of a coding key. A single associated value with a label has that as its key.
    func element(codedAs name: String) -> Element? {
        element(named: name) ?? (kind == .structure && elements.count == 1 ? elements[0] : nil)
    }
}

private struct CompositeKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: CompositeEncoder
    let names = CodedNames<Key>()
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws {}

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try encoder.set(value, names.name(of: key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder.encoder(ofCase: names.name(of: key)).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.encoder(ofCase: names.name(of: key)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.encoder(ofCase: names.name(of: key)) }
}

/// Values without keys are those of the elements one after the other.
private struct CompositeListEncoding: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let encoder: CompositeEncoder
    var codingPath: [any CodingKey] { [] }
    private(set) var count = 0

    init(encoder: CompositeEncoder) { self.encoder = encoder }

    mutating func encodeNil() throws { count += 1 }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        count += 1
        try encoder.setNext(value)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder.container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder }
}
