import Foundation

/// JSON as a tree whose numbers and strings keep their text, so that what is not changed is written as it was.
indirect enum JSONTree: Sendable {
    /// `null`, a Boolean, a number or a string.
    case leaf([UInt8])
    case list([JSONTree])
    case object([Member])

    struct Member: Sendable {
        /// The key without its escapes, in UTF-8.
        let key: [UInt8]
        /// The key as it is written, with its quotation marks.
        let text: [UInt8]
        var value: JSONTree
    }

    /// Reads JSON. The result is nil for data that is not JSON, and for values more than 512 levels deep, which no
    /// decoder of Foundation reads.
    ///
    /// - Parameter data: the JSON.
    init?(_ data: Data) {
        var reader = JSONTreeReader(Array(data))
        guard let tree = reader.whole() else { return nil }
        self = tree
    }

    /// The JSON, with the keys of objects in the order of a `JSONEncoder` that sorts them.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .leaf(let text): bytes += text
        case .list(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }).enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += member.text
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Bytes that are the same for values which differ only in the order of keys and of lists' elements: a set within
    /// a value is encoded in another order each time.
    var unorderedBytes: [UInt8] {
        switch self {
        case .leaf(let text): return [UInt8(ascii: "l")] + text.framed
        case .list(let elements):
            let each = elements.map(\.unorderedBytes).sorted { $0.lexicographicallyPrecedes($1) }
            return [UInt8(ascii: "a")] + Array(each.joined()).framed
        case .object(let members):
            let each = members.map { $0.key.framed + $0.value.unorderedBytes }
                .sorted { $0.lexicographicallyPrecedes($1) }
            return [UInt8(ascii: "o")] + Array(each.joined()).framed
        }
    }

    var isNull: Bool { leaf == Array("null".utf8) }

    /// The text of a leaf; nil for a list and an object.
    var leaf: [UInt8]? {
        if case .leaf(let text) = self { return text }
        return nil
    }

    /// The value of a key; nil if this is not an object, or does not have the key.
    subscript(key: [UInt8]) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }
}

extension [UInt8] {
    /// The bytes after their count, so that several in a row never read like others.
    fileprivate var framed: [UInt8] { Array("\(count):".utf8) + self }
}

extension JSONTree: Equatable {
    /// Whether two values are the same, in whatever order the keys of their objects are.
    static func == (one: JSONTree, other: JSONTree) -> Bool {
        switch (one, other) {
        case (.leaf(let one), .leaf(let other)): return one == other
        case (.list(let one), .list(let other)): return one == other
        case (.object(let members), .object(let others)):
            return members.count == others.count
                && zip(members, others).allSatisfy { member, next in
                    // Most objects have their keys in the same order.
                    (member.key == next.key ? next.value : other[member.key]).map { $0 == member.value } ?? false
                }
        default: return false
        }
    }
}

/// Reads a tree from JSON.
private struct JSONTreeReader {
    private let bytes: [UInt8]
    private var place = 0
    private var depth = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func whole() -> JSONTree? {
        guard let tree = value() else { return nil }
        skipSpace()
        return place == bytes.count ? tree : nil
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
    }

    private mutating func take(_ byte: Character) -> Bool {
        guard next == byte.asciiValue else { return false }
        place += 1
        return true
    }

    private mutating func value() -> JSONTree? {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return nested { $0.object() }
        case UInt8(ascii: "["): return nested { $0.list() }
        case UInt8(ascii: "\""): return string().map { .leaf($0) }
        default: return word()
        }
    }

    private mutating func nested(_ read: (inout JSONTreeReader) -> JSONTree?) -> JSONTree? {
        guard depth < 512 else { return nil }
        depth += 1
        defer { depth -= 1 }
        place += 1
        return read(&self)
    }

    private mutating func list() -> JSONTree? {
        var elements: [JSONTree] = []
        skipSpace()
        if take("]") { return .list([]) }
        while true {
            guard let element = value() else { return nil }
            elements.append(element)
            skipSpace()
            if take("]") { return .list(elements) }
            guard take(",") else { return nil }
        }
    }

    private mutating func object() -> JSONTree? {
        var members: [JSONTree.Member] = []
        skipSpace()
        if take("}") { return .object([]) }
        while true {
            skipSpace()
            guard let text = string(), let key = JSONTree.unescaped(text) else { return nil }
            skipSpace()
            guard take(":"), let value = value() else { return nil }
            members.append(JSONTree.Member(key: key, text: text, value: value))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { return nil }
        }
    }

    /// A string with its quotation marks.
    private mutating func string() -> [UInt8]? {
        let start = place
        guard take("\"") else { return nil }
        while let byte = next {
            place += 1
            if byte == UInt8(ascii: "\"") { return Array(bytes[start..<place]) }
            if byte == UInt8(ascii: "\\") { place += 1 }
        }
        return nil
    }

    /// A number, a Boolean or null.
    private mutating func word() -> JSONTree? {
        let start = place
        while let byte = next, !Self.ends(byte) { place += 1 }
        let text = Array(bytes[start..<place])
        guard let first = text.first else { return nil }
        switch first {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return Double(String(decoding: text, as: UTF8.self)) == nil ? nil : .leaf(text)
        default: return ["null", "true", "false"].contains { $0.utf8.elementsEqual(text) } ? .leaf(text) : nil
        }
    }

    private static func ends(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D, 0x09: true
        default: false
        }
    }
}

extension JSONTree {
    /// The text of a string without its quotation marks and escapes, in UTF-8; nil for what is not a string.
    static func unescaped(_ text: [UInt8]) -> [UInt8]? {
        guard text.first == UInt8(ascii: "\"") else { return nil }
        guard text.contains(UInt8(ascii: "\\")) else { return Array(text.dropFirst().dropLast()) }
        return (try? JSONDecoder().decode(String.self, from: Data(text))).map { Array($0.utf8) }
    }
}
