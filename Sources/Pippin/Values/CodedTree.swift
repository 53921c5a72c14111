import Foundation

/// What a value encodes, as a tree: equal values have the same one, also if they contain sets, whose elements have
/// another order in each instance.
///
/// It is made where stored forms differ, or to see which keys a type encodes, and not for each value.
final class CodedTree: Encoder {
    private enum Form {
        case nothing
        case leaf([UInt8])
        case list
        case keyed
    }

    private var form = Form.nothing
    private var elements: [CodedTree] = []
    private var values: [(key: String, value: CodedTree)] = []
    /// How many elements of a list belong together, where these groups are in no order; 0 for a list in order.
    private var group = 0
    private let options: Options
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    struct Options {
        /// The only key that is encoded, if the value has keys; nil for all.
        var key: String?
        /// Whether what a value encodes is left out.
        var leavesOut: (any Encodable) -> Bool = { _ in false }
    }

    /// - Parameters:
    ///   - value: the value.
    ///   - options: what is left out.
    /// - Throws: what encoding the value throws.
    convenience init(_ value: some Encodable, _ options: Options = Options()) throws {
        self.init(options)
        try value.encode(to: self)
    }

    private init(_ options: Options) { self.options = options }

    /// By key, in the order in which they were encoded; nil for a value without keys.
    var keyed: [(key: String, value: CodedTree)]? {
        if case .keyed = form { return values }
        return nil
    }

    /// Bytes that no other value has, in which groups without an order are sorted.
    var bytes: [UInt8] {
        switch form {
        case .nothing: return Array("-".utf8)
        case .leaf(let bytes): return Self.framed("l", bytes)
        case .list:
            let each = elements.map(\.bytes)
            guard group > 0 else { return Self.framed("a", Array(each.joined())) }
            let groups = stride(from: 0, to: each.count, by: group).map {
                Array(each[$0..<min($0 + group, each.count)].joined())
            }
            return Self.framed("s", Array(groups.sorted { $0.lexicographicallyPrecedes($1) }.joined()))
        case .keyed:
            let each = values.map { Self.framed("k", Array($0.key.utf8)) + $0.value.bytes }
            return Self.framed("o", Array(each.sorted { $0.lexicographicallyPrecedes($1) }.joined()))
        }
    }

    /// Bytes with their kind and count, so that one value never reads like another.
    private static func framed(_ kind: Character, _ bytes: [UInt8]) -> [UInt8] {
        Array("\(kind)\(bytes.count):".utf8) + bytes
    }

    // MARK: Encoding

    fileprivate func set(_ value: some Encodable) throws {
        switch value {
        case let text as String: form = .leaf(Array("t\(text)".utf8))
        case let flag as Bool: form = .leaf(Array("b\(flag)".utf8))
        case let number as any FixedWidthInteger: form = .leaf(Array("i\(number)".utf8))
        case let number as Double: form = .leaf(Array("d\(number.bitPattern)".utf8))
        case let number as Float: form = .leaf(Array("f\(number.bitPattern)".utf8))
        case let data as Data: form = .leaf([UInt8(ascii: "x")] + data)
        default:
            guard !options.leavesOut(value) else { return }
            if let groups = value as? any CodedWithoutOrder { group = type(of: groups).codedGroup }
            try value.encode(to: self)
        }
    }

    fileprivate func setNil() { form = .leaf([]) }

    fileprivate var count: Int { elements.count }

    fileprivate func child() -> CodedTree {
        var options = options
        options.key = nil
        return CodedTree(options)
    }

    fileprivate func append() -> CodedTree {
        let child = child()
        elements.append(child)
        return child
    }

    /// The value of a key; nil for a key that is left out.
    fileprivate func put(_ key: any CodingKey) -> CodedTree? {
        let key = key.stringValue
        guard options.key == nil || options.key == key else { return nil }
        let child = child()
        values.append((key, child))
        return child
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        form = .keyed
        return KeyedEncodingContainer(CodedTreeKeys<Key>(tree: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        form = .list
        return CodedTreeList(tree: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { CodedTreeValue(tree: self) }
}

private struct CodedTreeKeys<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let tree: CodedTree
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) throws { tree.put(key)?.setNil() }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try tree.put(key)?.set(value) }

    private func nested(_ key: any CodingKey) -> CodedTree { tree.put(key) ?? tree.child() }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { nested(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { nested(SuperKey()) }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }
}

/// The key under which a class encodes what its parent does.
private struct SuperKey: CodingKey {
    var stringValue: String { "super" }
    var intValue: Int? { nil }
    init() {}
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}

private struct CodedTreeList: UnkeyedEncodingContainer {
    let tree: CodedTree
    let codingPath: [any CodingKey] = []
    var count: Int { tree.count }

    func encodeNil() throws { tree.append().setNil() }
    func encode<Value: Encodable>(_ value: Value) throws { try tree.append().set(value) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        tree.append().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { tree.append().unkeyedContainer() }
    func superEncoder() -> any Encoder { tree.append() }
}

private struct CodedTreeValue: SingleValueEncodingContainer {
    let tree: CodedTree
    let codingPath: [any CodingKey] = []

    func encodeNil() throws { tree.setNil() }
    func encode<Value: Encodable>(_ value: Value) throws { try tree.set(value) }
}

/// A collection that may be encoded as a list whose groups of elements are in no order.
private protocol CodedWithoutOrder {
    static var codedGroup: Int { get }
}

extension Set: CodedWithoutOrder { fileprivate static var codedGroup: Int { 1 } }
/// Its keys and values by turns, unless its keys become those of the coding.
extension Dictionary: CodedWithoutOrder { fileprivate static var codedGroup: Int { 2 } }

/// An `Optional`, for code that does not know the wrapped type.
protocol OptionalValue {
    /// The wrapped value; nil for none.
    var wrappedValue: (any Encodable)? { get }
    /// The type of the wrapped value.
    static var wrappedType: Any.Type { get }
}

extension Optional: OptionalValue where Wrapped: Encodable {
    var wrappedValue: (any Encodable)? { self }
    static var wrappedType: Any.Type { Wrapped.self }
}
