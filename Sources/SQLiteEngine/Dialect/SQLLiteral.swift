import Foundation
import SQLGeneration
import SQLiteConnection

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

extension Connection {
    /// A new statement of a fragment, with its values bound.
    ///
    /// - Throws: SQLite's errors, and an `NSError` for a value that no column can hold.
    package func prepare(_ fragment: SQLFragment, _ context: BindingContext = BindingContext()) throws -> Statement {
        let sql = fragment.sqlite
        return try prepare(sql.text).binding(sql.values(context))
    }

    /// The cached statement of a fragment, with its values bound.
    ///
    /// - Throws: SQLite's errors, and an `NSError` for a value that no column can hold.
    package func statement(_ fragment: SQLFragment, _ context: BindingContext = BindingContext()) throws -> Statement {
        let sql = fragment.sqlite
        return try statement(sql.text).binding(sql.values(context))
    }

    /// Runs a fragment, ignoring its rows.
    ///
    /// - Throws: SQLite's errors, and an `NSError` for a value that no column can hold.
    package func run(_ fragment: SQLFragment, _ context: BindingContext = BindingContext()) throws {
        try prepare(fragment, context).run()
    }

    /// The first column of a fragment's first row as a number; nil without a row, or for NULL.
    ///
    /// - Throws: SQLite's errors, and an `NSError` for a value that no column can hold.
    package func integer(_ fragment: SQLFragment) throws -> Int64? {
        let statement = try prepare(fragment)
        guard try statement.step(), !statement.isNull(at: 0) else { return nil }
        return statement.integer(at: 0)
    }
}

extension Statement {
    /// Binds values to the parameters, starting at the first one.
    fileprivate func binding(_ values: [SQLValue]) throws -> Statement {
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
        return self
    }

    /// Binds a value of SQL to a parameter.
    package func bind(_ value: SQLValue, at index: Int32) throws {
        switch value {
        case .null: try bindNull(at: index)
        case .integer(let number): try bind(number, at: index)
        case .double(let number): try bind(number, at: index)
        case .text(let text): try bind(text, at: index)
        case .blob(let data): try bind(data, at: index)
        }
    }

    /// A column of the current row, in its stored form.
    package func value(at index: Int32) -> SQLValue {
        switch kind(at: index) {
        case .null: return .null
        case .integer: return .integer(integer(at: index))
        case .double: return .double(double(at: index))
        case .text: return .text(string(at: index))
        case .blob: return .blob(data(at: index))
        }
    }
}
