import CoreData
import Foundation
import HTTPMessages
import StoreReading

/// Values as they are displayed: short in a grid, complete on the page of an object. Pure.
enum ValueHTML {
    private static let longestInGrid = 90
    /// Longer texts are cut: megabytes are not a readable page.
    private static let longestText = 100_000
    /// How many bytes of text of what bytes hold are shown, about.
    private static let longestContent = 20_000

    // MARK: In a grid

    static func short(_ value: FieldValue) -> HTML {
        switch value {
        case .null, .noObject: return "<span class=\"null\">–</span>"
        case .boolean(let value): return value ? "<span class=\"yes\">yes</span>" : "<span class=\"no\">no</span>"
        case .integer(let value): return "\(String(value))"
        case .double(let value): return "\(String(value))"
        case .string(let text): return "\(shortened(text))"
        case .date(let seconds): return date(seconds)
        case .data(let data): return "<span class=\"bytes\">\(summary(data))</span>"
        case .json(let text): return "<code>\(shortened(text))</code>"
        default: return "\(shortened(DumpText.text(of: value)))"
        }
    }

    static func isNumber(_ attribute: AttributeLayout?) -> Bool { attribute?.type.isNumber ?? false }

    private static func shortened(_ text: String) -> String {
        let line = text.prefix(longestInGrid + 1).map { $0.isNewline ? " " : String($0) }.joined()
        return line.count > longestInGrid ? line.prefix(longestInGrid) + "…" : line
    }

    private static func date(_ seconds: Double) -> HTML {
        let text = TextTools.iso8601(seconds)
        let shown = text.replacing("T", with: " ").replacing("Z", with: "").replacing(" 00:00:00", with: "")
        return "<time datetime=\"\(text)\" title=\"\(text)\">\(shown)</time>"
    }

    /// The size of bytes, and the beginning of what they hold.
    private static func summary(_ data: Data) -> String {
        let content = MediaType(of: data).map(\.name) ?? BlobText.content(of: data)
        return TextTools.size(Int64(data.count)) + (content.map { ", \(shortened($0))" } ?? "")
    }

    // MARK: On a page of its own

    /// - Parameters:
    ///   - value: the value.
    ///   - address: the address of its bytes.
    /// - Returns: the value in HTML.
    static func long(_ value: FieldValue, address: String) -> HTML {
        switch value {
        case .string(let text):
            let shown = String(text.prefix(longestText))
            let rest: HTML =
                text.count > longestText ? "<p class=\"sub\">The first 100,000 characters of \(text.count).</p>" : ""
            return "<div class=\"text\">\(shown)</div>\(rest)"
        case .date(let seconds):
            let text = TextTools.iso8601(seconds)
            return "\(date(seconds)) <span class=\"sub\">UTC, <span data-local=\"\(text)\">\(text)</span></span>"
        case .json(let text): return "<pre>\(PrettyJSON.text(text))</pre>"
        case .data(let data), .archive(let data): return bytes(data, address: address)
        case .composite where value.enumerationValue != nil: return "\(DumpText.text(of: value))"
        case .composite(let elements):
            let rows = elements.map { element -> HTML in
                let value = long(element.value, address: "\(address)/\(Address.encoded(element.name))")
                return "<tr><th scope=\"row\">\(element.name)</th><td>\(value)</td></tr>"
            }
            return "<table class=\"fields inner\"><tbody>\(rows.joined())</tbody></table>"
        case .url(let text):
            // Not a link: a click must not lead to an address from a store's content.
            return "<span class=\"text\">\(text)</span>"
        case .missing(let file, let reason):
            return "<span class=\"badge warn\">missing</span> \(file) <span class=\"sub\">\(reason)</span>"
        case .unknown(let reason): return "<span class=\"badge warn\">not known</span> \(reason)"
        default: return short(value)
        }
    }

    private static func bytes(_ data: Data, address: String) -> HTML {
        let download: HTML = "<a href=\"\(address)\" download>\(TextTools.size(Int64(data.count)))</a>"
        if let type = MediaType(of: data) {
            return
                "<figure><img src=\"\(address)\" alt=\"\(type.name) of \(TextTools.size(Int64(data.count)))\"><figcaption>\(type.name), \(download)</figcaption></figure>"
        }
        let note: HTML = data.count > HexText.shown ? "<p class=\"sub\">The first \(HexText.shown) bytes.</p>" : ""
        let hex: HTML = "<pre class=\"hex\">\(HexText.text(of: data))</pre>\(note)"
        guard let content = ByteContent.of(data, most: longestContent) else {
            return "<p class=\"sub\">\(download)</p>\(hex)"
        }
        let rest: HTML = content.isCut ? "<p class=\"sub\">Not all is shown.</p>" : ""
        return """
            <p class="sub">\(content.form), \(download)</p><pre>\(PrettyJSON.text(content.json))</pre>\(rest)
            <details><summary class="sub">Bytes</summary>\(hex)</details>
            """
    }
}

/// JSON with its members on separate lines, in their order. Pure.
enum PrettyJSON {
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
