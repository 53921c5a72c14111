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
    ///   - members: the last cells.
    ///   - isVerbatim: whether texts that a spreadsheet would evaluate stay as they are.
    ///   - output: takes the text.
    /// - Throws: the errors of `output`.
    static func write(
        _ uri: String, _ values: [FieldValue], beside members: [String], isVerbatim: Bool,
        _ output: (String) throws -> Void
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
        for member in members { text += "," + quoted(member) }
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
        case .integer, .double, .decimal, .date, .dateText: cell(value)
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
        case .dateText(let text): text
        case .uuid(let value): value.uuidString
        case .url(let text), .json(let text): text
        case .data(let data), .archive(let data): data.base64EncodedString()
        case .object(let link): link.uri
        default: DumpJSON.text(of: value)
        }
    }
}

/// Long values as text, piece by piece, so that a value is in memory once and not with each of its spellings.
enum LongText {
    /// How many bytes are written at a time: a multiple of three, so that each piece is Base64 by itself.
    private static let piece = 48 << 10
    /// Values of fewer bytes are written as a whole.
    private static let least = 1 << 18

    /// Whether a value is to be written in pieces.
    static func isLong(_ value: FieldValue) -> Bool {
        switch value {
        case .string(let text), .json(let text), .url(let text): text.utf8.count > least
        case .data(let data): data.count > least
        default: false
        }
    }

    /// Writes a long value as JSON.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - isLine: whether bytes that are JSON may have no line breaks.
    ///   - output: takes the pieces.
    /// - Throws: the errors of `output`.
    static func writeJSON(_ value: FieldValue, isLine: Bool, _ output: (String) throws -> Void) throws {
        switch value {
        case .json(let text):
            try forEachPiece(of: text) { part in
                try output(isLine ? RowWriter.withoutLineBreaks(part) : part)
            }
        case .string(let text), .url(let text):
            try output("\"")
            try forEachPiece(of: text) { try output(String(JSONText.string($0).dropFirst().dropLast())) }
            try output("\"")
        case .data(let data):
            try output("\"")
            try forEachPiece(of: data) { try output($0.base64EncodedString()) }
            try output("\"")
        default: try output(DumpJSON.text(of: value))
        }
    }

    /// Writes a long value as a cell of CSV.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - isVerbatim: whether a text that a spreadsheet would evaluate stays as it is.
    ///   - output: takes the pieces.
    /// - Throws: the errors of `output`.
    static func writeCSV(_ value: FieldValue, isVerbatim: Bool, _ output: (String) throws -> Void) throws {
        switch value {
        case .string(let text), .json(let text), .url(let text):
            try output(isVerbatim || !CSVText.isFormula(text) ? "\"" : "\"'")
            try forEachPiece(of: text) { try output(TextTools.replacing(0x22, with: "\"\"", in: $0)) }
            try output("\"")
        case .data(let data): try forEachPiece(of: data) { try output($0.base64EncodedString()) }
        default: try output(CSVText.cell(value))
        }
    }

    private static func forEachPiece(of text: String, _ body: (String) throws -> Void) throws {
        let (utf8, scalars) = (text.utf8, text.unicodeScalars)
        var start = utf8.startIndex
        while start < utf8.endIndex {
            var end = utf8.index(start, offsetBy: piece, limitedBy: utf8.endIndex) ?? utf8.endIndex
            // A piece ends with a whole character.
            while end.samePosition(in: scalars) == nil { end = utf8.index(before: end) }
            try body(String(text[start..<end]))
            start = end
        }
    }

    private static func forEachPiece(of data: Data, _ body: (Data) throws -> Void) throws {
        var start = data.startIndex
        while start < data.endIndex {
            let end = data.index(start, offsetBy: piece, limitedBy: data.endIndex) ?? data.endIndex
            try body(data[start..<end])
            start = end
        }
    }
}
