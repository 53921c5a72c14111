import Foundation

/// The members of a JSON object as values to import. Pure.
enum JSONMembers {
    /// - Parameter text: a JSON object.
    /// - Returns: its members by name; nil for what is no object.
    static func values(in text: Data) -> [(String, ImportFile.Value)]? {
        guard let object = (try? JSONSerialization.jsonObject(with: text)) as? [String: Any] else { return nil }
        var sources: [String: String]?
        return object.sorted { $0.key < $1.key }.map { name, value in
            switch value {
            case is NSNull: return (name, .none)
            case let text as String: return (name, .text(text))
            case let number as NSNumber: return (name, .literal(self.text(of: number)))
            default:
                sources = sources ?? self.sources(in: Array(text))
                return (name, .json(sources?[name] ?? ""))
            }
        }
    }

    private static func text(of number: NSNumber) -> String {
        // Foundation reads `true` into a number of its own type.
        String(cString: number.objCType) == "c" ? (number.boolValue ? "true" : "false") : number.stringValue
    }

    /// Lists and objects by name, byte by byte as they stand in the text of an object, which is valid: where bytes are
    /// JSON, they have to be the same.
    private static func sources(in text: [UInt8]) -> [String: String] {
        var sources: [String: String] = [:]
        var name: String?
        var (depth, start) = (0, 0)
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""):
                let first = index
                index += 1
                while index < text.count, text[index] != UInt8(ascii: "\"") {
                    index += text[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard depth == 1, name == nil, index < text.count else { break }
                name =
                    (try? JSONSerialization.jsonObject(with: Data(text[first...index]), options: .fragmentsAllowed))
                    as? String
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if depth == 1 { start = index }
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 1, let name { sources[name] = String(decoding: text[start...index], as: UTF8.self) }
            case UInt8(ascii: ",") where depth == 1: name = nil
            default: break
            }
            index += 1
        }
        return sources
    }
}
