/// An element of a source model as text: attributes in the order in which they are given, four spaces a level, as Xcode
/// writes them. Pure.
struct XMLElementText: Equatable {
    let name: String
    private(set) var attributes: [(name: String, value: String)] = []
    var children: [XMLElementText] = []

    init(_ name: String) { self.name = name }

    /// Adds an attribute; `nil` adds none.
    mutating func set(_ name: String, _ value: String?) {
        if let value { attributes.append((name, value)) }
    }

    /// Adds `YES`, or nothing.
    mutating func set(_ name: String, _ value: Bool) { set(name, value ? "YES" : nil) }

    static func == (left: XMLElementText, right: XMLElementText) -> Bool { left.text() == right.text() }

    /// The element and what is in it, without a line break at the end.
    func text(depth: Int = 0) -> String {
        let margin = String(repeating: " ", count: 4 * depth)
        let list = attributes.map { " \($0.name)=\"\(Self.escaped($0.value))\"" }.joined()
        if children.isEmpty { return "\(margin)<\(name)\(list)/>" }
        let content = children.map { $0.text(depth: depth + 1) }.joined(separator: "\n")
        return "\(margin)<\(name)\(list)>\n\(content)\n\(margin)</\(name)>"
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            // A parser makes spaces of these where they stand as they are.
            case "\t": result += "&#9;"
            case "\n": result += "&#10;"
            case "\r": result += "&#13;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whether XML can hold a text at all: it has no place for most control characters, escaped or not.
    static func canHold(_ text: String) -> Bool {
        !text.unicodeScalars.contains { scalar in
            switch scalar {
            case "\t", "\n", "\r": false
            case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": true
            default: false
            }
        }
    }
}
