import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// Runs a batch request in one transaction, together with its files.
    ///
    /// - Parameters:
    ///   - work: what it does, for errors.
    ///   - body: the work, which says of the aggregates when it changes many rows.
    /// - Returns: the result of the work.
    /// - Throws: `NSManagedObjectConstraintMergeError` for conflicting unique values; an `NSError` for everything else.
    ///   Nothing is changed then.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    func inBatch<Result>(
        _ work: String, _ body: (ExternalFiles, BatchAggregates) throws -> Result
    ) throws -> Result {
        let files = ExternalFiles(external, journal: journal)
        // The reports of triggers are for contexts, which are not notified of batches.
        derived.isIgnored = true
        let aggregates = BatchAggregates(self)
        defer {
            derived.isIgnored = false
            aggregates.end()
        }
        do {
            let result = try run(work, fallback: CoreDataErrorCode.persistentStoreSave) {
                do {
                    return try transaction {
                        let result = try body(files, aggregates)
                        try aggregates.compute()
                        files.willCommit()
                        return result
                    }
                } catch let error as SQLiteError where error.isUniqueViolation {
                    throw StoreError.sameUniqueValues(
                        UniqueViolation(sqlite: error.message, schema), "\(work) \(file.url.storeName)",
                        reason: error.message, url: file.url,
                        userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedCode)])
                }
            }
            finish(files)
            return result
        } catch {
            undo(files)
            throw error
        }
    }

    /// The rows of a batch request as SQL, with the values to bind.
    func batchSQL(_ rows: FetchPlan) throws -> (sql: BatchSQL, binding: BindingContext) {
        let predicate = try rows.predicate.map { try preparedPredicate(of: $0) }
        let order = rows.limit > 0 || rows.offset > 0 ? try sortTerms(of: rows.sortDescriptors) : []
        let sql = try BatchSQL(
            schema: schema, plan: rows, predicate: predicate?.skeleton, arguments: predicate?.arguments ?? [],
            sortTerms: order)
        let binding = BindingContext(
            arguments: predicate?.arguments ?? [], limit: rows.limit, offset: rows.offset, store: identity)
        return (sql, binding)
    }

    /// Runs a statement that returns no rows.
    ///
    /// - Returns: how many rows it changed.
    @discardableResult
    func run(_ fragment: SQLFragment, _ binding: BindingContext = BindingContext()) throws -> Int {
        try connection.run(fragment, binding)
        return connection.changes
    }

    /// The mappings of the entities of a plan's rows.
    ///
    /// - Throws: 134100 if another program has migrated them.
    func mappings(of rows: FetchPlan) throws -> [EntityMapping] {
        try schema.checkCurrent(rows.entity)
        return rows.entities.compactMap { schema.mapping(of: $0) }
    }
}

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
