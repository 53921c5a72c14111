import Foundation

/// JSON (RFC 8259) as text, with members in the given order.
package enum JSONText {
    /// The member of an object that says which of its values are not there; see `ValueMarks`.
    package static let marksName = ObjectHead.marks

    package static func string(_ value: String) -> String {
        // Most texts need no replacements. The control characters from U+0080 to U+009F begin with the byte C2.
        if value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C && $0 != 0x7F && $0 != 0xC2 }) {
            return "\"\(value)\""
        }
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
                text += String(format: "\\u%04x", scalar.value)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }

    /// A number in JSON. Infinities and NaN, for which JSON has no number, are written as strings.
    package static func number(_ value: Double) -> String {
        value.isFinite ? "\(value)" : string("\(value)")
    }

    package static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(string($0.0)): \($0.1)" }.joined(separator: ", ") + "}"
    }
}
