import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// The transactions after a place, in their order.
    func historyTransactions(after start: HistoryPosition?) throws -> [HistoryTransactionRow] {
        try run("read the history of") {
            // The history of an older system has the names in the row, and only there.
            let known = Set(try connection.columnNames(ofTable: "ATRANSACTION"))
            func name(_ column: String) -> String {
                let plain = known.contains(column) ? "t.\(column)" : "NULL"
                guard known.contains(column + "TS") else { return plain }
                return "IFNULL((SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = t.\(column)TS), \(plain))"
            }
            let columns = ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"].map(name).joined(separator: ", ")
            let statement = try connection.statement(
                "SELECT t.Z_PK, t.ZTIMESTAMP, \(columns) FROM ATRANSACTION t\(Self.condition(start)) ORDER BY t.Z_PK")
            defer { statement.reset() }
            try Self.bind(start, to: statement)
            var rows: [HistoryTransactionRow] = []
            while try statement.step() {
                rows.append(
                    HistoryTransactionRow(
                        number: statement.integer(at: 0), timestamp: statement.double(at: 1),
                        author: statement.optionalString(at: 2), bundleID: statement.string(at: 3),
                        contextName: statement.optionalString(at: 4), processID: statement.string(at: 5)))
            }
            return rows
        }
    }

    /// The changes of the transactions after a place, in their order. Changes of entities that the model does not have are
    /// left out.
    func historyChanges(after start: HistoryPosition?) throws -> [HistoryChangeRow] {
        try run("read the history of") {
            let tombstones = try connection.columnNames(ofTable: "ACHANGE").count { $0.hasPrefix("ZTOMBSTONE") }
            let kept = (0..<tombstones).map { ", c.ZTOMBSTONE\($0)" }.joined()
            let statement = try connection.statement(
                "SELECT c.Z_PK, c.ZTRANSACTIONID, c.ZCHANGETYPE, c.ZENTITY, c.ZENTITYPK, c.ZCOLUMNS\(kept) FROM ACHANGE c "
                    + "JOIN ATRANSACTION t ON t.Z_PK = c.ZTRANSACTIONID\(Self.condition(start)) "
                    + "ORDER BY c.ZTRANSACTIONID, c.Z_PK")
            defer { statement.reset() }
            try Self.bind(start, to: statement)
            var properties: [Int64: HistoryProperties] = [:]
            var rows: [HistoryChangeRow] = []
            while try statement.step() {
                let number = statement.integer(at: 3)
                guard let mapping = schema.mapping(number: Int(number)),
                    let kind = HistoryChangeKind(rawValue: statement.integer(at: 2))
                else { continue }
                let known = properties[number] ?? HistoryProperties(mapping.layout)
                properties[number] = known
                let hasMask = kind == .update && !statement.isNull(at: 5)
                rows.append(
                    HistoryChangeRow(
                        number: statement.integer(at: 0), transaction: statement.integer(at: 1), kind: kind,
                        objectID: NSManagedObjectID(
                            layout: mapping.layout, store: identity, key: statement.integer(at: 4)),
                        changedNames: hasMask ? known.names(in: statement.data(at: 5)) : nil,
                        tombstone: kind == .delete ? tombstone(statement, mapping, known, tombstones) : nil))
            }
            return rows
        }
    }

    private func tombstone(
        _ statement: Statement, _ mapping: EntityMapping, _ properties: HistoryProperties, _ columns: Int
    ) -> [String: StoredValue]? {
        guard !properties.preservedSlots.isEmpty else { return nil }
        var values: [String: StoredValue] = [:]
        for (index, slot) in properties.preservedSlots.enumerated() where index < columns {
            guard let column = mapping.columns[slot] else { continue }
            let value = statement.value(at: Int32(6 + index))
            guard value != .null else { continue }
            var stored = StoredValue(value, storage: column.storage)
            if case .transformable = column.storage, case .blob(let data) = value {
                stored = TransformableCoding.value(of: data, for: mapping.layout.slots[slot].attribute)
            }
            values[mapping.layout.slots[slot].name] = stored
        }
        return values
    }

    private static func condition(_ start: HistoryPosition?) -> String {
        switch start {
        case nil: return ""
        case .transaction: return " WHERE t.Z_PK > ?"
        case .date: return " WHERE t.ZTIMESTAMP > ?"
        }
    }

    private static func bind(_ start: HistoryPosition?, to statement: Statement) throws {
        switch start {
        case nil: break
        case .transaction(let number): try statement.bind(number, at: 1)
        case .date(let seconds): try statement.bind(seconds, at: 1)
        }
    }

    /// Deletes the transactions before a place, and their changes: `DELETE FROM ATRANSACTION WHERE Z_PK < ?`. The names that they
    /// refer to stay, as with Core Data.
    func deleteHistory(before end: HistoryPosition?) throws {
        try run("delete the history of", fallback: CoreDataErrorCode.persistentStoreSave) {
            try transaction {
                let condition: String
                switch end {
                case nil: condition = ""
                case .transaction: condition = " WHERE Z_PK < ?"
                case .date: condition = " WHERE ZTIMESTAMP < ?"
                }
                for text in [
                    "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN (SELECT Z_PK FROM ATRANSACTION\(condition))",
                    "DELETE FROM ATRANSACTION\(condition)",
                ] {
                    let statement = try connection.statement(text)
                    try Self.bind(end, to: statement)
                    try statement.run()
                }
            }
        }
    }

    /// The number of the latest transaction, 0 before the first one.
    func latestTransaction() throws -> Int64 {
        try run("read the history of") {
            try KeyCounter(connection, .transaction).latest()
        }
    }

    /// The number of the oldest transaction that has not been deleted; the next one's when all have been.
    func oldestKeptTransaction() throws -> Int64 {
        try run("read the history of") {
            if let oldest = try connection.integer("SELECT MIN(Z_PK) FROM ATRANSACTION") { return oldest }
            return try latestTransaction() + 1
        }
    }
}
