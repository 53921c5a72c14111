/// An engine that keeps a history of saves.
package protocol HistoryEngine: StoreEngine {
    /// The transactions after a position, in order.
    ///
    /// - Parameters:
    ///   - start: the position; `nil` for the beginning.
    ///   - limit: how many at most; `nil` for all.
    /// - Returns: the transactions.
    /// - Throws: the errors of the store.
    func historyTransactions(after start: HistoryPosition?, limit: Int?) throws -> [HistoryTransactionRow]

    /// The transactions with some numbers, in order.
    ///
    /// - Parameter numbers: the numbers.
    /// - Returns: those of them that the history still has.
    /// - Throws: the errors of the store.
    func historyTransactions(numbered numbers: Set<Int64>) throws -> [HistoryTransactionRow]

    /// The changes of the transactions after a position, in order.
    ///
    /// - Parameters:
    ///   - start: the position; `nil` for the beginning.
    ///   - last: the number of the last transaction; `nil` for all.
    ///   - keys: the keys of the changed objects; `nil` for all.
    /// - Returns: the changes.
    /// - Throws: the errors of the store.
    func historyChanges(
        after start: HistoryPosition?, through last: Int64?, ofKeys keys: Set<Int64>?
    ) throws -> [HistoryChangeRow]

    /// The changes after some transactions of the rows that these changed, or of others with the same keys, in order.
    ///
    /// - Parameters:
    ///   - first: the number before the first of the transactions.
    ///   - last: the number of the last one.
    /// - Returns: the changes.
    /// - Throws: the errors of the store.
    func historyChanges(ofRowsChangedAfter first: Int64, through last: Int64) throws -> [HistoryChangeRow]

    /// Deletes the transactions before a position; `nil` for all.
    func deleteHistory(before end: HistoryPosition?) throws

    /// The number of the latest transaction; 0 before the first one.
    func latestTransaction() throws -> Int64

    /// The number of the oldest transaction that has not been deleted; `nil` if there is none.
    func oldestKeptTransaction() throws -> Int64?

    /// Whether transactions that others have seen may still be missing, as on a standby.
    var mayLag: Bool { get }

    /// Records all rows as inserted, in one transaction of the history, for a store that had rows before it had a
    /// history.
    ///
    /// - Returns: whether that was done; false for an engine that cannot.
    /// - Throws: the errors of the store.
    func recordRows() throws -> Bool
}

extension HistoryEngine {
    package var mayLag: Bool { false }

    package func recordRows() throws -> Bool { false }

    package func historyTransactions(after start: HistoryPosition?) throws -> [HistoryTransactionRow] {
        try historyTransactions(after: start, limit: nil)
    }

    package func historyChanges(after start: HistoryPosition?) throws -> [HistoryChangeRow] {
        try historyChanges(after: start, through: nil, ofKeys: nil)
    }

    /// Reads from the first one on. In a file, that costs little more than reading the transactions one by one.
    package func historyTransactions(numbered numbers: Set<Int64>) throws -> [HistoryTransactionRow] {
        guard let first = numbers.min() else { return [] }
        return try historyTransactions(after: .transaction(first - 1), limit: nil)
            .filter { numbers.contains($0.number) }
    }
}
