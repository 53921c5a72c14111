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
            return "property list " + shortened(text(of: list))
        }
        guard let first = data.first(where: { !" \t\r\n".utf8.contains($0) }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            (try? JSONSerialization.jsonObject(with: data)) != nil, let text = String(data: data, encoding: .utf8)
        else { return nil }
        return "JSON " + shortened(text)
    }

    private static func text(of list: PropertyList, depth: Int = 0) -> String {
        guard depth < 16 else { return "…" }
        switch list {
        case .boolean(let value): return value ? "true" : "false"
        case .integer(let value): return "\(value)"
        case .unsignedInteger(let value): return "\(value)"
        case .real(let value): return "\(value)"
        case .date(let value): return JSONText.string(TextTools.iso8601(value.timeIntervalSinceReferenceDate))
        case .data(let value): return JSONText.string(value.base64EncodedString())
        case .string(let value): return JSONText.string(value)
        case .uid(let value): return "UID \(value)"
        case .array(let values):
            return "[" + values.prefix(64).map { text(of: $0, depth: depth + 1) }.joined(separator: ", ") + "]"
        case .dictionary(let members):
            return "{"
                + members.sorted { $0.key < $1.key }.prefix(64).map {
                    "\(JSONText.string($0.key)): \(text(of: $0.value, depth: depth + 1))"
                }.joined(separator: ", ") + "}"
        }
    }

    /// The text shortened and without control characters, which would reach the terminal.
    private static func shortened(_ text: String) -> String {
        TextTools.plain(String(text.unicodeScalars.prefix(longest))) + (text.unicodeScalars.count > longest ? "…" : "")
    }
}
