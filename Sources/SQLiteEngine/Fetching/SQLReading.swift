import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// Runs a statement that a person wrote.
    func read(
        _ sql: WrittenSQL, columns: ([String]) throws -> Void, row: (any CurrentRow) throws -> Bool
    ) throws {
        // Seconds since 2001 as a text that SQLite's functions take.
        let fragment = try sql.fragment(schema) { "strftime('%Y-%m-%d %H:%M:%f', \($0) + 978307200, 'unixepoch')" }
        let rendered = fragment.sqlite
        let statement: Statement
        do { statement = try connection.readingStatement(rendered.text) } catch let error as SQLiteError
            where error.isInStatement || error.code == SQLiteError.misuse
        {
            // SQLite counts bytes of UTF-8.
            let position = error.position.flatMap { String(rendered.text.utf8.prefix($0))?.unicodeScalars.count }
            throw sql.error(error.message, in: rendered.text, at: position, underlying: error)
        }
        defer { statement.reset() }
        try run("read from") {
            for (index, value) in try rendered.values(BindingContext(store: identity)).enumerated() {
                try statement.bind(value, at: Int32(index + 1))
            }
        }
        let count = statement.columnCount
        try columns((0..<count).map { statement.columnName(at: Int32($0)) })
        guard let layout = schema.layout.entities.first else { return }
        let current = WrittenRow(statement, count, NSManagedObjectID(layout: layout, store: identity, key: 0))
        while try next(statement, sql, rendered.text) {
            guard try row(current) else { return }
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

/// The current row of a statement that a person wrote; its slots are the columns.
private final class WrittenRow: CurrentRow {
    private let statement: Statement
    private let count: Int
    /// Of no object.
    let objectID: NSManagedObjectID

    init(_ statement: Statement, _ count: Int, _ objectID: NSManagedObjectID) {
        (self.statement, self.count, self.objectID) = (statement, count, objectID)
    }

    func value(at slot: Int) -> StoredValue {
        let index = Int32(slot)
        return switch statement.kind(at: index) {
        case .integer: .integer(statement.integer(at: index))
        case .double: .double(statement.double(at: index))
        case .text: .string(statement.string(at: index))
        case .blob: .data(statement.data(at: index))
        case .null: .null
        }
    }

    func whole() -> Row {
        Row(objectID: objectID, version: 0, values: ContiguousArray((0..<count).map(value)))
    }

    func isNull(at slot: Int) -> Bool { statement.isNull(at: Int32(slot)) }

    func string(at slot: Int) -> String? {
        statement.kind(at: Int32(slot)) == .text ? statement.string(at: Int32(slot)) : nil
    }

    func integer(at slot: Int) -> Int64? {
        statement.kind(at: Int32(slot)) == .integer ? statement.integer(at: Int32(slot)) : nil
    }

    /// Sums of whole numbers are whole, and are numbers as well.
    func double(at slot: Int) -> Double? {
        switch statement.kind(at: Int32(slot)) {
        case .integer, .double: statement.double(at: Int32(slot))
        case .text, .blob, .null: nil
        }
    }

    func date(at slot: Int) -> Double? { double(at: slot) }

    func uuid(at slot: Int) -> UUID? {
        statement.kind(at: Int32(slot)) == .blob ? statement.uuid(at: Int32(slot)) : nil
    }

    func text(at slot: Int) -> String? {
        switch statement.kind(at: Int32(slot)) {
        case .text, .integer: statement.string(at: Int32(slot))
        case .double, .blob, .null: nil
        }
    }
}
