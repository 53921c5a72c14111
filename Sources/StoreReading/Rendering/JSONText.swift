import Foundation

/// JSON (RFC 8259) as text, members in the order in which they are given.
package enum JSONText {
    package static func string(_ value: String) -> String {
        // Most texts need nothing replaced.
        if value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C && $0 != 0x7F }) { return "\"\(value)\"" }
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                text += String(format: "\\u%04x", scalar.value)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }

    /// JSON has no number for infinity and what is no number: they are written as strings.
    package static func number(_ value: Double) -> String {
        value.isFinite ? "\(value)" : string("\(value)")
    }

    package static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(string($0.0)): \($0.1)" }.joined(separator: ", ") + "}"
    }
}
