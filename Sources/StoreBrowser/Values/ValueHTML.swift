import CoreData
import Foundation
import HTTPMessages
import KeyedArchives
import StoreReading

/// Values as they are displayed: short in a grid, complete on the page of an object. Pure.
enum ValueHTML {
    private static let longestInGrid = 90
    /// Longer texts are cut: megabytes are not a readable page.
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

/// The content of property lists and keyed archives, as text: no object of an archive is created for it. Pure.
enum ArchiveText {
    private static let longest = 20_000
    private static let largest = 1 << 20

    /// The text of bytes that are a property list or an archive; nil for others.
    static func text(of data: Data) -> (kind: String, content: String)? {
        guard data.count <= largest, PropertyList.isBinary(data), let list = try? PropertyList(binary: data) else {
            return nil
        }
        var writer = Writer()
        if let archive = try? KeyedArchive(propertyList: list) {
            writer.objects = archive.objects
            for (name, value) in archive.top.sorted(by: { $0.key < $1.key }) {
                writer.line(archive.top.count > 1 ? "\(name): " : "", value, depth: 0)
            }
            return ("archive", writer.text)
        }
        writer.line("", list, depth: 0)
        return ("property list", writer.text)
    }

    private struct Writer {
        var objects: [PropertyList] = []
        var text = ""
        /// The objects that enclose the one being written.
        private var path: [UInt64] = []

        mutating func line(_ label: String, _ value: PropertyList, depth: Int) {
            guard text.utf8.count < longest, depth < 24 else {
                if !text.hasSuffix("…\n") { text += "…\n" }
                return
            }
            let indent = String(repeating: "  ", count: depth) + label
            switch value {
            case .uid(let index) where !objects.isEmpty:
                let number = UInt64(index)
                guard !path.contains(number), objects.indices.contains(Int(number)) else {
                    text += indent + "(the same as above)\n"
                    return
                }
                // An archive has no reference to a reference; a chain of them would be followed without end.
                if case .uid(let next) = objects[Int(number)] {
                    text += indent + "UID \(next)\n"
                    return
                }
                path.append(number)
                line(label, objects[Int(number)], depth: depth)
                path.removeLast()
            case .string("$null"): text += indent + "nil\n"
            case .array(let values):
                text += indent + (values.isEmpty ? "[]" : "[\(values.count)]") + "\n"
                for value in values { line("– ", value, depth: depth + 1) }
            case .dictionary(let members):
                text += indent + (className(members) ?? "{\(members.count)}") + "\n"
                for (name, value) in members.sorted(by: { $0.key < $1.key }) where name != "$class" {
                    line("\(name): ", value, depth: depth + 1)
                }
            case .boolean(let value): text += indent + (value ? "true" : "false") + "\n"
            case .integer(let value): text += indent + "\(value)\n"
            case .unsignedInteger(let value): text += indent + "\(value)\n"
            case .real(let value): text += indent + "\(value)\n"
            case .date(let value): text += indent + TextTools.iso8601(value.timeIntervalSinceReferenceDate) + "\n"
            case .data(let data):
                let digits = data.prefix(32).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                text += indent + "\(TextTools.count(data.count, "byte")) \(digits)\(data.count > 32 ? "…" : "")\n"
            case .string(let value): text += indent + JSONText.string(String(value.prefix(2000))) + "\n"
            case .uid(let index): text += indent + "UID \(index)\n"
            }
        }

        /// The class of an archived object.
        private func className(_ members: [String: PropertyList]) -> String? {
            guard case .uid(let index)? = members["$class"], objects.indices.contains(Int(index)),
                case .dictionary(let description) = objects[Int(index)],
                case .string(let name)? = description["$classname"]
            else { return nil }
            return name
        }
    }
}

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
