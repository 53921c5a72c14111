import CoreData
import HTTPMessages
import KeyedArchives
import StoreReading

/// Values as they are displayed: short in a grid, complete on the page of an object. Pure.
enum ValueHTML {
    private static let longestInGrid = 90
    /// Longer texts are cut: megabytes are no readable page.
    private static let longestText = 100_000

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

    private static func summary(_ data: Data) -> String {
        let kind = MediaType(of: data).map { ", \($0.name)" } ?? (PropertyList.isBinary(data) ? ", property list" : "")
        return TextTools.size(Int64(data.count)) + kind
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
        case .data(let data): return bytes(data, address: address)
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
        if let text = ArchiveText.text(of: data) {
            return "<p class=\"sub\">\(text.kind), \(download)</p><pre>\(text.content)</pre>"
        }
        if data.count <= 1 << 20, let text = PrettyJSON.text(of: data) {
            return "<p class=\"sub\">JSON, \(download)</p><pre>\(text)</pre>"
        }
        let note: HTML = data.count > HexText.shown ? "<p class=\"sub\">The first \(HexText.shown) bytes.</p>" : ""
        return "<p class=\"sub\">\(download)</p><pre class=\"hex\">\(HexText.text(of: data))</pre>\(note)"
    }
}
