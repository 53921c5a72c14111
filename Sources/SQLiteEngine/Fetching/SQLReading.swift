import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// Runs a statement that a person wrote.
    func read(
        _ sql: WrittenSQL, columns: ([String]) throws -> Void, row: (ContiguousArray<StoredValue>) throws -> Bool
    ) throws {
        // Seconds since 2001 as a text that SQLite's functions take.
        let fragment = try sql.fragment(schema) { "strftime('%Y-%m-%d %H:%M:%f', \($0) + 978307200, 'unixepoch')" }
        let rendered = fragment.sqlite
        let statement: Statement
        do { statement = try connection.readingStatement(rendered.text) } catch let error as SQLiteError
            where error.isInStatement || error.code == SQLiteError.misuse
        {
            throw sql.error(error.message, in: rendered.text, underlying: error)
        }
        defer { statement.reset() }
        try run("read from") {
            for (index, value) in try rendered.values(BindingContext(store: identity)).enumerated() {
                try statement.bind(value, at: Int32(index + 1))
            }
        }
        let count = statement.columnCount
        try columns((0..<count).map { statement.columnName(at: Int32($0)) })
        var values = ContiguousArray<StoredValue>(repeating: .null, count: count)
        while try next(statement, sql, rendered.text) {
            for index in 0..<count {
                let place = Int32(index)
                values[index] =
                    switch statement.kind(at: place) {
                    case .integer: .integer(statement.integer(at: place))
                    case .double: .double(statement.double(at: place))
                    case .text: .string(statement.string(at: place))
                    case .blob: .data(statement.data(at: place))
                    case .null: .null
                    }
            }
            guard try row(values) else { return }
        }
    }

    /// Goes to the next row. What a statement computes can fail, such as a sum of more than 64 bits.
    private func next(_ statement: Statement, _ sql: WrittenSQL, _ text: String) throws -> Bool {
        do { return try statement.step() } catch let error as SQLiteError where error.isInStatement {
            throw sql.error(error.message, in: text, underlying: error)
        } catch {
            throw SQLiteStoreError.make(
                error, fallback: CoreDataErrorCode.sqlite, work: "read from", url: file.url)
        }
    }
}
