/// Comma-separated values (RFC 4180). Pure.
package enum CSVText {
    /// One line, with its end.
    package static func line(_ cells: [String]) -> String { cells.map(quoted).joined(separator: ",") + "\r\n" }

    /// A cell in quotation marks where it needs them.
    package static func quoted(_ text: String) -> String {
        let needs =
            text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D } || text.first == " "
            || text.last == " "
        return needs ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : text
    }

    /// A value as text; an empty cell for none.
    package static func cell(_ value: FieldValue) -> String {
        switch value {
        case .null, .noObject: ""
        case .boolean(let value): value ? "true" : "false"
        case .string(let text): text
        case .date(let seconds): TextTools.iso8601(seconds)
        case .uuid(let value): value.uuidString
        case .url(let text), .json(let text): text
        case .data(let data): data.base64EncodedString()
        case .object(let link): link.uri
        default: DumpJSON.text(of: value)
        }
    }
}
