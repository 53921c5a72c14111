import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// The transactions after a position, in order, as many as the limit allows.
    func historyTransactions(after start: HistoryPosition?, limit: Int?) throws -> [HistoryTransactionRow] {
        try run("read the history of") {
            let known = Set(try connection.columnNames(ofTable: "ATRANSACTION"))
            let statement = try connection.statement(
                HistorySQL.transactions(after: start, limit: limit, columns: known))
            defer { statement.reset() }
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

    /// The changes of the transactions after a position up to the last one, in order, of all objects or those with
    /// some keys, without changes of entities that the model does not have.
    func historyChanges(
        after start: HistoryPosition?, through last: Int64?, ofKeys keys: Set<Int64>?
    ) throws -> [HistoryChangeRow] {
        try run("read the history of") {
            let tombstones = try connection.columnNames(ofTable: "ACHANGE").count { $0.hasPrefix("ZTOMBSTONE") }
            let statement = try connection.statement(
                HistorySQL.changes(after: start, through: last, ofKeys: keys, tombstones: tombstones))
            defer { statement.reset() }
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

    /// Deletes the transactions before a position, and their changes: `DELETE FROM ATRANSACTION WHERE Z_PK < ?`. The
    /// names that they refer to stay, as in Core Data.
    func deleteHistory(before end: HistoryPosition?) throws {
        try run("delete the history of", fallback: CoreDataErrorCode.persistentStoreSave) {
            try transaction {
                for deletion in HistorySQL.deletion(before: end) { try connection.run(deletion) }
            }
        }
    }

    /// The number of the latest transaction; 0 before the first one.
    func latestTransaction() throws -> Int64 {
        try run("read the history of") {
            try KeyCounter(connection, .transaction).latest()
        }
    }

    /// The number of the oldest transaction that has not been deleted; if all have been, the number of the next one.
    func oldestKeptTransaction() throws -> Int64 {
        try run("read the history of") {
            if let oldest = try connection.integer(HistorySQL.oldest) { return oldest }
            return try latestTransaction() + 1
        }
    }
}
