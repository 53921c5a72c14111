import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    private func parameters(_ position: HistoryPosition?) -> PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        switch position {
        case nil: break
        case .transaction(let number): parameters.append(number)
        // Outside of what the server has numbers for. Nothing is deleted before an invalid date.
        case .date(let seconds):
            parameters.append(Timestamp(secondsSince2001: seconds) ?? (seconds > 0 ? .infinity : .negativeInfinity))
        }
        return parameters
    }

    private static func condition(_ position: HistoryPosition?, _ sign: String) -> String {
        switch position {
        case nil: "t.schema_name = $1"
        case .transaction: "t.schema_name = $1 AND t.id \(sign) $2"
        case .date: "t.schema_name = $1 AND t.date \(sign) $2"
        }
    }

    func historyTransactions(after start: HistoryPosition?, limit: Int?) throws -> [HistoryTransactionRow] {
        let end = limit.map { " LIMIT \($0)" } ?? ""
        return try transactions("\(Self.condition(start, ">")) ORDER BY t.id\(end)", parameters(start))
    }

    func historyTransactions(numbered numbers: Set<Int64>) throws -> [HistoryTransactionRow] {
        guard !numbers.isEmpty else { return [] }
        var parameters = parameters(nil)
        parameters.append(array: numbers.sorted())
        return try transactions("t.schema_name = $1 AND t.id = ANY($2) ORDER BY t.id", parameters)
    }

    private func transactions(_ which: String, _ parameters: PostgresParameters) throws -> [HistoryTransactionRow] {
        try reading("read the history of") {
            let result = try connection.query(
                "SELECT t.id, t.date, t.author, t.bundle_id, t.context_name, t.process_id FROM pippin.transactions t "
                    + "WHERE " + which, parameters)
            return (0..<result.count).map { row in
                func text(_ column: Int) -> String? { result.isNull(row, column) ? nil : result.string(row, column) }
                return HistoryTransactionRow(
                    number: result.integer(row, 0), timestamp: result.timestamp(row, 1).secondsSince2001,
                    author: text(2),
                    bundleID: text(3) ?? "", contextName: text(4), processID: text(5) ?? "")
            }
        }
    }

    /// The changes of the transactions after a place up to the last one, of all objects or those with some keys,
    /// without those of entities that the model does not have.
    ///
    /// - Parameters:
    ///   - start: the place.
    ///   - last: the number of the last transaction; nil for all.
    ///   - keys: the keys; nil for all.
    ///   - rows: the numbers before the first and of the last transaction that have changed the rows in question; nil
    ///     for all rows.
    /// - Returns: the changes.
    /// - Throws: the server's errors.
    func historyChanges(
        after start: HistoryPosition?, through last: Int64?, ofKeys keys: Set<Int64>?,
        ofRowsChangedIn rows: (after: Int64, through: Int64)? = nil
    ) throws -> [HistoryChangeRow] {
        var parameters = parameters(start)
        if let keys { parameters.append(array: keys.sorted()) }
        var chosen = keys == nil ? "" : "AND c.key = ANY($\(parameters.count)) "
        if let rows {
            parameters.append(rows.after)
            parameters.append(rows.through)
            let count = parameters.count
            chosen +=
                "AND c.key IN (SELECT o.key FROM pippin.changes o WHERE o.schema_name = $1 AND o.transaction_id > $\(count - 1) "
                + "AND o.transaction_id <= $\(count)) "
        }
        return try reading("read the history of") {
            let (value, former) =
                keepsFormerValues
                ? (
                    ", f.former",
                    "LEFT JOIN pippin.former_values f ON f.schema_name = c.schema_name AND f.transaction_id = c.transaction_id AND f.id = c.id "
                ) : ("", "")
            let result = try connection.query(
                "SELECT c.id, c.transaction_id, c.kind, c.entity, c.key, c.columns, c.tombstone\(value) FROM pippin.changes c \(former)"
                    + "JOIN pippin.transactions t ON t.schema_name = c.schema_name AND t.id = c.transaction_id WHERE \(Self.condition(start, ">")) "
                    + "\(last.map { "AND t.id <= \($0) " } ?? "")\(chosen)ORDER BY c.transaction_id, c.id", parameters)
            return (0..<result.count).compactMap { row in
                guard let mapping = schema.mapping(number: Int(result.integer(row, 3))),
                    let kind = HistoryChangeKind(rawValue: result.integer(row, 2))
                else { return nil }
                let properties = historyProperties(mapping.layout)
                let mask = kind == .update && !result.isNull(row, 5) ? result.data(row, 5) : nil
                let tombstone = result.isNull(row, 6) ? nil : result.data(row, 6)
                return HistoryChangeRow(
                    number: result.integer(row, 0), transaction: result.integer(row, 1), kind: kind,
                    objectID: NSManagedObjectID(layout: mapping.layout, store: identity, key: result.integer(row, 4)),
                    changedNames: mask.flatMap(properties.names),
                    tombstone: kind == .delete ? Tombstones.values(tombstone, mapping.layout, properties) : nil,
                    former: keepsFormerValues && !result.isNull(row, 7)
                        ? KeptValues.values(result.data(row, 7), of: mapping.layout, in: identity) : nil)
            }
        }
    }

    func deleteHistory(before end: HistoryPosition?) throws {
        try reading("delete the history of", fallback: CoreDataErrorCode.persistentStoreSave) {
            _ = try connection.query(
                "DELETE FROM pippin.transactions t WHERE \(Self.condition(end, "<"))", parameters(end))
        }
    }

    /// The number of the latest transaction, 0 before the first one. It is kept when the transaction is deleted.
    func latestTransaction() throws -> Int64 {
        try reading("read the history of") {
            let result = try connection.query(
                "SELECT latest FROM pippin.stores WHERE schema_name = $1", parameters(nil))
            return result.count == 1 ? result.integer(0, 0) : 0
        }
    }

    /// The number of the oldest transaction that has not been deleted; that of the next one if all have been.
    func oldestKeptTransaction() throws -> Int64 {
        let oldest = try reading("read the history of") {
            try connection.query(
                "SELECT min(t.id) FROM pippin.transactions t WHERE t.schema_name = $1", parameters(nil))
        }
        return try oldest.isNull(0, 0) ? latestTransaction() + 1 : oldest.integer(0, 0)
    }
}
