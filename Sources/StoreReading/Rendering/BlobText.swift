import CoreData
import Foundation
import KeyedArchives

/// The content of bytes that are text-like, as SwiftData keeps `Codable` values: JSON, or a property list.
package enum BlobText {
    private static let longest = 400
    /// Larger values are not shown on a line.
    private static let largest = 1 << 20

    /// `JSON [1,2]`, `property list ["a", "b"]`; nil for other bytes.
    package static func content(of data: Data) -> String? {
        guard !data.isEmpty, data.count <= largest else { return nil }
        if PropertyList.isBinary(data) {
            guard let list = try? PropertyList(binary: data) else { return nil }
            // An archive is a graph of objects, and not readable as a list.
            if case .dictionary(let members) = list, members["$archiver"] != nil { return nil }
            var text = ""
            append(list, to: &text)
            return "property list " + shortened(text)
        }
        guard let first = data.first(where: { !" \t\r\n".utf8.contains($0) }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            JSONCheck.holds(data, allowsFragments: false), let text = String(data: data, encoding: .utf8)
        else { return nil }
        return "JSON " + shortened(text)
    }

    /// Whether a text is longer than what is shown of it: a character has at most four bytes.
    private static func isLongEnough(_ text: String) -> Bool { text.utf8.count > 4 * longest }

    /// Writes as much as is shown: a list may use its parts so often that the whole has no end.
    private static func append(_ list: PropertyList, to text: inout String, depth: Int = 0) {
        guard !isLongEnough(text) else { return }
        guard depth < 16 else { return text += "…" }
        switch list {
        case .boolean(let value): text += value ? "true" : "false"
        case .integer(let value): text += "\(value)"
        case .unsignedInteger(let value): text += "\(value)"
        case .real(let value): text += "\(value)"
        case .date(let value): text += JSONText.string(TextTools.iso8601(value.timeIntervalSinceReferenceDate))
        case .data(let value): text += JSONText.string(value.base64EncodedString())
        case .string(let value): text += JSONText.string(value)
        case .uid(let value): text += "UID \(value)"
        case .array(let values):
            text += "["
            for (position, value) in values.prefix(64).enumerated() where !isLongEnough(text) {
                if position > 0 { text += ", " }
                append(value, to: &text, depth: depth + 1)
            }
            text += "]"
        case .dictionary(let members):
            text += "{"
            for (position, member) in members.sorted(by: { $0.key < $1.key }).prefix(64).enumerated()
            where !isLongEnough(text) {
                text += (position > 0 ? ", " : "") + "\(JSONText.string(member.key)): "
                append(member.value, to: &text, depth: depth + 1)
            }
            text += "}"
        }
    }

    /// The text shortened and without control characters, which would reach the terminal.
    private static func shortened(_ text: String) -> String {
        TextTools.plain(String(text.unicodeScalars.prefix(longest))) + (text.unicodeScalars.count > longest ? "…" : "")
    }
}
