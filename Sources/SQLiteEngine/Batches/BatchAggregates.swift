import CoreDataModel
import SQLGeneration
import SQLiteConnection

/// Aggregates of derived attributes in a batch request: computed at its end if it changes many rows.
final class BatchAggregates {
    private let store: OpenStore
    private var later: LaterAggregates?

    init(_ store: OpenStore) { self.store = store }

    /// Whether computing them later is worth counting rows for, if rows of some tables are changed.
    func mayWait(on tables: Set<String>) -> Bool { later == nil && store.hasAggregates(of: tables) }

    /// Begins to collect objects if many rows are changed.
    ///
    /// - Parameters:
    ///   - tables: the tables whose rows are changed.
    ///   - count: how many rows, counted if it matters; more than `LaterAggregates.many` need not be counted.
    /// - Throws: SQLite's errors, and those of counting.
    func begin(on tables: Set<String>, _ count: () throws -> Int) throws {
        guard mayWait(on: tables), try count() >= LaterAggregates.many else { return }
        later = try LaterAggregates(store)
    }

    /// Computes the aggregates of the collected objects.
    func compute() throws { try later?.compute() }

    /// Lets the store's own triggers run again. To be called in any case.
    func end() { later?.end() }
}
