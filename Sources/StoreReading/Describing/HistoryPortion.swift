import CoreData
import SQLGeneration
import SQLiteConnection
import SQLiteEngine
import StoreEngine

/// The first changes of some transactions of a history, and their number: a transaction that imported a million objects
/// is not read completely.
package struct HistoryPortion {
    /// By the numbers of the transactions.
    package private(set) var changes: [Int64: [HistoryChangeRow]] = [:]
    package private(set) var counts: [Int64: Int] = [:]

    /// From how many changes on only some are read.
    private static let most = 5000

    /// - Parameters:
    ///   - transactions: their numbers, ascending.
    ///   - mostChanges: how many changes of each are wanted if there are very many.
    ///   - history: the engine to ask.
    ///   - store: the store of the history.
    /// - Throws: an error for a store that cannot be read.
    package init(
        _ transactions: [Int64], most mostChanges: Int, _ history: any HistoryEngine, _ store: DirectStore
    ) throws {
        guard let first = transactions.first, let last = transactions.last else { return }
        if let file = store.file {
            let connection = try ReadingConnection.open(file)
            if try connection.integer(StoreCheckSQL.changeCount(after: first - 1)) ?? 0 > Self.most {
                try read(transactions, mostChanges, connection, store, file)
                return
            }
        }
        let rows = try history.historyChanges(after: .transaction(first - 1), through: last, ofKeys: nil)
        changes = Dictionary(grouping: rows, by: \.transaction)
        counts = changes.mapValues(\.count)
    }

    private mutating func read(
        _ transactions: [Int64], _ mostChanges: Int, _ connection: Connection, _ store: DirectStore, _ file: URL
    ) throws {
        let schema = try ReadingConnection.schema(of: store, file)
        for transaction in transactions {
            counts[transaction] = Int(try connection.integer(StoreCheckSQL.changeCount(of: transaction)) ?? 0)
            let statement = try connection.prepare(StoreCheckSQL.changes(of: transaction, limit: mostChanges))
            while try statement.step() {
                guard let kind = HistoryChangeKind(rawValue: statement.integer(at: 0)),
                    let layout = schema.mapping(number: Int(statement.integer(at: 1)))?.layout
                else { continue }
                let hasMask = kind == .update && !statement.isNull(at: 3)
                changes[transaction, default: []].append(
                    HistoryChangeRow(
                        number: statement.integer(at: 4), transaction: transaction, kind: kind,
                        objectID: store.identifier(layout, statement.integer(at: 2)),
                        changedNames: hasMask ? HistoryProperties(layout).names(in: statement.data(at: 3)) : nil,
                        tombstone: nil))
            }
        }
    }
}
