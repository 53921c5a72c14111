import Foundation

/// JSON with its members on separate lines, in their order. Pure.
enum PrettyJSON {
    /// The text of bytes that are JSON; nil for others.
    static func text(of data: Data) -> String? {
        guard let first = data.first(where: { !" \t\r\n".utf8.contains($0) }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            (try? JSONSerialization.jsonObject(with: data)) != nil, let text = String(data: data, encoding: .utf8)
        else { return nil }
        return self.text(text)
    }

    /// The formatted text of a valid JSON text.
    static func text(_ json: String) -> String {
        var result = ""
        var depth = 0
        var (isInString, isEscaped) = (false, false)
        let scalars = Array(json.unicodeScalars)
        func newLine() { result += "\n" + String(repeating: "  ", count: min(max(0, depth), 40)) }
        for (position, scalar) in scalars.enumerated() {
            if isInString {
                result.unicodeScalars.append(scalar)
                if isEscaped {
                    isEscaped = false
                } else if scalar == "\\" {
                    isEscaped = true
                } else if scalar == "\"" {
                    isInString = false
                }
                continue
            }
            switch scalar {
            case " ", "\n", "\t", "\r": continue
            case "\"":
                isInString = true
                result.append("\"")
            case "{", "[":
                result.unicodeScalars.append(scalar)
                depth += 1
                let next = scalars[(position + 1)...].first { !" \n\t\r".unicodeScalars.contains($0) }
                if next != "}" && next != "]" { newLine() }
            case "}", "]":
                depth -= 1
                if let last = result.last, last != "{", last != "[" { newLine() }
                result.unicodeScalars.append(scalar)
            case ",":
                result.append(",")
                newLine()
            case ":": result += ": "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
