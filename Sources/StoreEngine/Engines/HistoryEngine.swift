/// An engine that keeps a history of saves.
package protocol HistoryEngine: StoreEngine {
    /// The transactions after a position, in order.
    func historyTransactions(after start: HistoryPosition?) throws -> [HistoryTransactionRow]

    /// The changes of the transactions after a position, in order.
    func historyChanges(after start: HistoryPosition?) throws -> [HistoryChangeRow]

    /// Deletes the transactions before a position; `nil` for all.
    func deleteHistory(before end: HistoryPosition?) throws

    /// The number of the latest transaction; 0 before the first one.
    func latestTransaction() throws -> Int64

    /// The number of the oldest transaction that has not been deleted; `nil` if there is none.
    func oldestKeptTransaction() throws -> Int64?

    /// Whether transactions that others have seen may still be missing, as on a standby.
    var mayLag: Bool { get }
}

extension HistoryEngine {
    package var mayLag: Bool { false }
}
