import Foundation

/// Comma-separated values (RFC 4180). Pure.
package enum CSVText {
    /// One line, including its line break.
    package static func line(_ cells: [String]) -> String { cells.map(quoted).joined(separator: ",") + "\r\n" }

    /// Writes one line of values, including its line break: as one text, if no value is long. An empty text, or empty
    /// bytes, is a cell in quotation marks, and no value an empty cell.
    ///
    /// - Parameters:
    ///   - uri: the first cell.
    ///   - values: the following ones.
    ///   - marks: the last cell; nil for none.
    ///   - isVerbatim: whether texts that a spreadsheet would evaluate stay as they are.
    ///   - output: takes the text.
    /// - Throws: the errors of `output`.
    static func write(
        _ uri: String, _ values: [FieldValue], marks: String?, isVerbatim: Bool, _ output: (String) throws -> Void
    ) throws {
        var text = uri
        for value in values {
            text += ","
            if LongText.isLong(value) {
                try output(text)
                text = ""
                try LongText.writeCSV(value, isVerbatim: isVerbatim, output)
            } else {
                let isEmpty = value == .string("") || value == .data(Data())
                text += isEmpty ? "\"\"" : quoted(isVerbatim ? cell(value) : guardedCell(value))
            }
        }
        if let marks { text += "," + quoted(marks) }
        try output(text + "\r\n")
    }

    /// A cell, in quotation marks if it needs them.
    package static func quoted(_ text: String) -> String {
        let needs =
            text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D } || text.utf8.first == 0x20
            || text.utf8.last == 0x20
        return needs ? "\"" + TextTools.replacing(0x22, with: "\"\"", in: text) + "\"" : text
    }

    /// A text as a cell that no spreadsheet evaluates: an apostrophe is put before what would be a formula. A text that
    /// begins with apostrophes followed by a formula gets one more, so that ``unguarded(_:)`` restores every text.
    package static func guarded(_ text: String) -> String { isFormula(text) ? "'" + text : text }

    /// The text of a guarded cell.
    package static func unguarded(_ cell: String) -> String {
        cell.utf8.first == UInt8(ascii: "'") && isFormula(cell) ? String(cell.dropFirst()) : cell
    }

    /// Whether a spreadsheet may evaluate a text, ignoring apostrophes at its beginning. Signs before digits alone are
    /// numbers and telephone numbers.
    static func isFormula(_ text: String) -> Bool {
        let rest = text.utf8.drop { $0 == UInt8(ascii: "'") }
        switch rest.first {
        case UInt8(ascii: "="), UInt8(ascii: "@"), 0x09, 0x0D: return true
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            return !rest.dropFirst().allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || " ().-/,".utf8.contains(byte)
            }
        default: return false
        }
    }

    /// A value as a cell that no spreadsheet evaluates: only values that are text may be formulas.
    static func guardedCell(_ value: FieldValue) -> String {
        switch value {
        case .integer, .double, .decimal, .date: cell(value)
        default: guarded(cell(value))
        }
    }

    /// A value as text; an empty cell for no value.
    package static func cell(_ value: FieldValue) -> String {
        switch value {
        case .null, .noObject, .missing, .unknown: ""
        case .boolean(let value): value ? "true" : "false"
        case .string(let text): text
        case .double(let value): "\(value)"
        case .decimal(let digits): digits
        case .date(let seconds): TextTools.iso8601(seconds)
        case .uuid(let value): value.uuidString
        case .url(let text), .json(let text): text
        case .data(let data): data.base64EncodedString()
        case .object(let link): link.uri
        default: DumpJSON.text(of: value)
        }
    }
}
