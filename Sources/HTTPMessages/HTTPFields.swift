import Foundation

/// The names and values of a query or form, in order. A name may occur several times.
public struct HTTPFields: Sendable, Equatable {
    /// The names and values, decoded.
    public private(set) var items: [Item] = []

    /// A name and its value.
    public struct Item: Sendable, Equatable {
        /// The name.
        public let name: String
        /// The value.
        public let value: String

        /// Creates a field.
        ///
        /// - Parameters:
        ///   - name: the name.
        ///   - value: its value.
        public init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }

    /// Parses `name=value&name=value`.
    ///
    /// - Parameter text: the text, percent-encoded; a plus sign is a space.
    public init(encoded text: String) {
        items = text.split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return Item(
                name: Self.decoded(pair[0], plusIsSpace: true),
                value: pair.count > 1 ? Self.decoded(pair[1], plusIsSpace: true) : "")
        }
    }

    /// Creates fields.
    ///
    /// - Parameter items: names with values, decoded.
    public init(_ items: [Item]) { self.items = items }

    /// All values of a name, in order.
    ///
    /// - Parameter name: the name.
    /// - Returns: the values; empty if the name does not occur.
    public func values(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    /// The first value of a name; nil if the name does not occur.
    ///
    /// - Parameter name: the name.
    public subscript(_ name: String) -> String? { items.first { $0.name == name }?.value }

    /// Removes the percent encoding. Bytes that are not UTF-8 become the replacement character.
    static func decoded(_ text: Substring, plusIsSpace: Bool) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(digit),
                let low = rest.dropFirst().first.flatMap(digit)
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
