import CompactCollections
import SQLGeneration
import Foundation

// Literals, for the few places that cannot have parameters: triggers, indexes, default values of migrations.

/// A text as an SQL literal. SQL ends at a zero byte, so a text that contains one is written as bytes.
package func literal(_ text: String) -> String {
    guard !text.utf8.contains(0) else { return "CAST(\(literal(Data(text.utf8))) AS TEXT)" }
    return "'" + doubled("'", in: text) + "'"
}

/// A value as an SQL literal. NaN is NULL, as in SQLite; infinities are numbers that are too large.
package func literal(_ value: SQLValue) -> String { spelled(value) }

func spelled(_ value: SQLValue) -> String {
    switch value {
    case .null: return "NULL"
    case .integer(let number): return String(number)
    case .double(let number):
        if number.isNaN { return "NULL" }
        if number.isInfinite { return number > 0 ? "9e999" : "-9e999" }
        return "\(number)"
    case .text(let text): return literal(text)
    case .blob(let data): return literal(data)
    }
}

private func literal(_ bytes: Data) -> String { "X'\(bytes.map { String(format: "%02X", $0) }.joined())'" }
