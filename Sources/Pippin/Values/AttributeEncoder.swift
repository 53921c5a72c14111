import StoreSession

/// Encodes a value for one attribute.
enum AttributeEncoder {
    /// The stored form of a value of an attribute.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - kind: how the attribute is stored.
    ///   - name: the property, for messages.
    /// - Returns: the value as a store keeps it.
    /// - Throws: what encoding the value throws.
    static func storedValue<Value: Encodable>(
        of value: Value, _ kind: AttributeKind, name: @autoclosure () -> String
    ) throws -> StoredValue {
        let stored = try single(value)
        guard stored.fits(kind) else { throw unexpected(stored, kind, name()) }
        return stored
    }

    /// The stored form of a single value of any kind, as its coding gives it; null for a coding that gives none.
    static func single(_ value: some Encodable) throws -> StoredValue {
        if let stored = try leaf(value) { return stored }
        let capture = ValueCapture()
        try value.encode(to: capture)
        return capture.value ?? .null
    }

    /// The stored form of Foundation types that are attributes here; their own coding is not used.
    static func leaf<Value>(_ value: Value) throws -> StoredValue? {
        // The type is the same then; a cast would find that out once more, slowly.
        if Value.self == Date.self {
            let seconds = unsafeBitCast(value, to: Date.self).timeIntervalSinceReferenceDate
            return .date(try number(seconds))
        }
        if Value.self == UUID.self { return .uuid(unsafeBitCast(value, to: UUID.self)) }
        if Value.self == URL.self {
            let url = unsafeBitCast(value, to: URL.self)
            guard url.baseURL == nil else { throw relative(url) }
            return .object(url as NSURL)
        }
        if Value.self == Data.self { return .data(unsafeBitCast(value, to: Data.self)) }
        if Value.self == Decimal.self {
            let decimal = unsafeBitCast(value, to: Decimal.self)
            guard !decimal.isNaN else { throw notANumber(decimal) }
            guard decimal.isKeptExactly else { throw tooManyDigits(decimal) }
            return .object(NSDecimalNumber(decimal: decimal))
        }
        return nil
    }

    /// Rejects NaN, which SQLite stores as NULL and which would be read as no value.
    static func number(_ value: Double) throws -> Double {
        guard !value.isNaN else { throw notANumber(value) }
        return value
    }

    /// Rejects a negative zero: what is saved comes back as it was. SQLite keeps it as 0 in each column of a number
    /// (affinity REAL or NUMERIC), since a whole number is an integer there; what it would keep, such as bytes, no
    /// condition finds. It is rejected for other stores, too, so that a program may exchange them.
    ///
    /// - Parameter value: what is to be stored.
    /// - Returns: the same.
    /// - Throws: `EncodingError`
    @inline(__always)
    static func kept(_ value: StoredValue) throws -> StoredValue {
        switch value {
        case .double(let number), .date(let number):
            if number == 0, number.sign == .minus { throw negativeZero }
            return value
        default: return value
        }
    }

    private static var negativeZero: EncodingError {
        .refusal("It is a negative zero (-0.0), which a store keeps as 0. Add 0 to it, which makes it 0.")
    }

    private static func relative(_ url: URL) -> EncodingError {
        .invalidValue(
            url,
            EncodingError.Context(
                codingPath: [],
                debugDescription:
                    "The URL “\(url.relativeString)” is relative to another, which no store keeps. Use its absoluteURL."
            ))
    }

    fileprivate static func notANumber(_ value: Any) -> EncodingError {
        .invalidValue(
            value,
            EncodingError.Context(
                codingPath: [], debugDescription: "It is not a number (NaN), which no store can keep. Use an optional.")
        )
    }

    private static func tooManyDigits(_ value: Decimal) -> EncodingError {
        .invalidValue(
            value,
            EncodingError.Context(
                codingPath: [],
                debugDescription: "\(value) has more digits than the 15 that a store keeps of a decimal. Round it, "
                    + "or keep it as a string."))
    }

    /// Rejects integers that do not fit an attribute, which is always signed.
    static func integer(_ value: UInt64) throws -> StoredValue {
        if let number = Int64(exactly: value) { return .integer(number) }
        throw EncodingError.invalidValue(
            value,
            EncodingError.Context(
                codingPath: [], debugDescription: "\(value) is more than an attribute can hold, which is \(Int64.max).")
        )
    }

    private static func unexpected(_ value: StoredValue, _ kind: AttributeKind, _ name: String) -> EncodingError {
        .refusal("“\(name)” decodes \(kind), and encodes \(value.isNull ? "nothing" : "\(value)").")
    }
}

extension Decimal {
    /// Whether a store keeps all of the digits: SQLite's numbers have 15, and integers those of 64 bits.
    fileprivate var isKeptExactly: Bool {
        let text = description
        if text.utf8.count <= 15 || Int64(text) != nil { return true }
        let digits = text.utf8.filter { (48...57).contains($0) }.drop { $0 == 48 }
        return digits.count - digits.reversed().prefix { $0 == 48 }.count <= 15
    }
}

/// An encoder that captures a single value.
final class ValueCapture: Encoder, SingleValueEncodingContainer {
    var value: StoredValue?
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusingKeyedContainer<Key>(record: "a nested container"))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer(record: "a single value") }

    func encodeNil() throws { value = .null }
    func encode(_ value: Bool) throws { self.value = .integer(value ? 1 : 0) }
    func encode(_ value: String) throws { self.value = .string(value) }
    func encode(_ value: Double) throws { self.value = .double(try AttributeEncoder.number(value)) }
    func encode(_ value: Float) throws { self.value = .double(try AttributeEncoder.number(Double(value))) }
    func encode(_ value: Int) throws { self.value = .integer(Int64(value)) }
    func encode(_ value: Int8) throws { self.value = .integer(Int64(value)) }
    func encode(_ value: Int16) throws { self.value = .integer(Int64(value)) }
    func encode(_ value: Int32) throws { self.value = .integer(Int64(value)) }
    func encode(_ value: Int64) throws { self.value = .integer(value) }
    func encode(_ value: UInt8) throws { self.value = .integer(Int64(value)) }
    func encode(_ value: UInt16) throws { self.value = .integer(Int64(value)) }
    func encode(_ value: UInt32) throws { self.value = .integer(Int64(value)) }
    func encode(_ value: UInt) throws { self.value = try AttributeEncoder.integer(UInt64(value)) }
    func encode(_ value: UInt64) throws { self.value = try AttributeEncoder.integer(value) }

    func encode<Value: Encodable>(_ value: Value) throws {
        if let stored = try AttributeEncoder.leaf(value) { self.value = stored } else { try value.encode(to: self) }
    }
}

/// Values without a fixed shape, as JSON.
enum ValueJSON {
    /// Equal values give equal data, so that saving an unchanged value changes nothing. Sets within other values are in
    /// the order of the process.
    static func data(of value: some Encodable) throws -> Data {
        if let value = value as? any UnorderedValue, value.isSorted {
            let sorted = try value.encodedElements().sorted { $0.lexicographicallyPrecedes($1) }
            return Data("[".utf8) + Data(sorted.joined(separator: ",".utf8)) + Data("]".utf8)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(value)
        if data.mayHaveNotANumber, (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) == nil {
            throw AttributeEncoder.notANumber(Decimal.nan)
        }
        return data
    }

    static func value<Value: Decodable>(_ type: Value.Type, in data: Data) throws -> Value {
        try JSONDecoder().decode(type, from: data)
    }

    /// Whether an equal value may have other data: a set with several elements, or a dictionary that is encoded as a
    /// list, is somewhere within what a `JSONEncoder` encodes.
    static func varies(_ value: Any) -> Bool {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return mirror.children.contains { varies($0.value) } }
        guard let value = value as? any UnorderedValue, value.isSorted else {
            return mirror.children.contains { hasUnordered($0.value) }
        }
        // Each element is encoded by itself; one of a dictionary is a pair of them.
        let isPairs = mirror.displayStyle == .dictionary
        return mirror.children.contains { element in
            isPairs ? Mirror(reflecting: element.value).children.contains { varies($0.value) } : varies(element.value)
        }
    }

    /// Whether a value is a set with several elements, or a dictionary that is encoded as a list, or contains one.
    static func hasUnordered(_ value: Any) -> Bool {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .set where mirror.children.count > 1: return true
        case .dictionary where mirror.children.count > 1:
            let hasTextKeys = value is [String: Any] || value is [Int: Any]
            if !hasTextKeys, (value as? any UnorderedValue)?.isSorted ?? true { return true }
        default: break
        }
        return mirror.children.contains { hasUnordered($0.value) }
    }
}

extension Data {
    /// Whether `NaN` is in it: Foundation writes a decimal that is not a number so, which is not JSON.
    fileprivate var mayHaveNotANumber: Bool {
        withUnsafeBytes { bytes in
            bytes.indices.dropLast(2).contains { bytes[$0] == 78 && bytes[$0 + 1] == 97 && bytes[$0 + 2] == 78 }
        }
    }
}

/// A collection whose elements have another order in each process.
private protocol UnorderedValue {
    /// Whether it is encoded as a list, which is sorted; JSON has other dictionaries by their keys, and sorts these.
    var isSorted: Bool { get }

    /// The JSON of each element.
    func encodedElements() throws -> [Data]
}

extension Set: UnorderedValue where Element: Encodable {
    fileprivate var isSorted: Bool { true }

    fileprivate func encodedElements() throws -> [Data] { try map { try ValueJSON.data(of: $0) } }
}

extension Dictionary: UnorderedValue where Key: Encodable, Value: Encodable {
    fileprivate var isSorted: Bool { !(Key.self is any CodingKeyRepresentable.Type) }

    fileprivate func encodedElements() throws -> [Data] {
        try map { try ValueJSON.data(of: $0) + Data(",".utf8) + ValueJSON.data(of: $1) }
    }
}

/// A kind of attribute.
enum AttributeKind: Sendable, Equatable {
    case boolean, integer16, integer32, integer64, float, double, string, date, data, uuid, url, decimal

    /// Core Data's name for it.
    var type: NSAttributeType {
        switch self {
        case .boolean: .booleanAttributeType
        case .integer16: .integer16AttributeType
        case .integer32: .integer32AttributeType
        case .integer64: .integer64AttributeType
        case .float: .floatAttributeType
        case .double: .doubleAttributeType
        case .string: .stringAttributeType
        case .date: .dateAttributeType
        case .data: .binaryDataAttributeType
        case .uuid: .UUIDAttributeType
        case .url: .URIAttributeType
        case .decimal: .decimalAttributeType
        }
    }

    /// The kind of Foundation types that have codings of their own, and are attributes here.
    init?(of type: Any.Type) {
        switch ObjectIdentifier(type) {
        case ObjectIdentifier(Date.self): self = .date
        case ObjectIdentifier(UUID.self): self = .uuid
        case ObjectIdentifier(URL.self): self = .url
        case ObjectIdentifier(Data.self): self = .data
        case ObjectIdentifier(Decimal.self): self = .decimal
        default: return nil
        }
    }
}

extension ListedKind {
    /// The kind of a list's elements for predicates; nil for one that they do not look into.
    init?(_ kind: AttributeKind) {
        switch kind {
        case .boolean: self = .boolean
        case .integer16, .integer32, .integer64: self = .integer
        case .float: self = .float
        case .double: self = .double
        case .string: self = .text
        case .date: self = .date
        case .uuid: self = .uuid
        case .url: self = .url
        // Base 64, and a number with more digits than JSON's readers keep.
        case .data, .decimal: return nil
        }
    }
}

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
