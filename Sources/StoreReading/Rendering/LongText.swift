import Foundation

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
