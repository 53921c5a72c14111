import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    /// How often a batch that conflicted with another transaction is retried.
    private static let batchAttempts = 5

    /// Runs a batch request in one transaction, and recomputes derived attributes. It is run again if the connection
    /// turns out to be lost and nothing of it was committed.
    ///
    /// - Parameters:
    ///   - work: what is done, for error messages.
    ///   - again: prepares a second run; `nil` if there can be none.
    ///   - body: performs the request.
    /// - Returns: what the body returns.
    /// - Throws: `NSManagedObjectConstraintMergeError` if unique values conflict; an `NSError` for everything else. The
    ///   store is then unchanged, unless the error says that the outcome is unknown.
    func inBatch<Result>(
        _ work: String, again: (() -> Void)? = {}, _ body: () throws -> Result
    ) throws -> Result {
        try run(work, fallback: CoreDataErrorCode.persistentStoreSave) {
            var losses = Losses(place.failover)
            var attempt = 0
            while true {
                attempt += 1
                do {
                    if attempt > 1 {
                        again?()
                        NSPostgreSQLMetricsReceiver.record(.saveRepeated(attempt: attempt))
                    }
                    return try oneBatch(work, body)
                } catch let error as PostgresError where error.isRetryable {
                    guard attempt < Self.batchAttempts, again != nil, !isBoundToConnection else { throw error }
                } catch let error as PostgresError where isServerLost(error) {
                    // The server was not asked to commit, so nothing was saved.
                    guard !isBoundToConnection else { throw error }
                    guard again != nil else { throw SaveUndone(cause: error) }
                    try reconnect(after: error, since: losses.wait(after: error))
                } catch let error as SaveUndone {
                    guard again != nil else { throw error }
                    _ = try losses.wait(after: error)
                }
            }
        }
    }

    private func oneBatch<Result>(_ work: String, _ body: () throws -> Result) throws -> Result {
        do {
            batch = BatchRun(derived: derivations.isEmpty ? nil : DerivedUpdate(ChangeSet(), self))
            defer { batch = BatchRun() }
            return try transaction {
                let result = try body()
                try recordBatch()
                noteNotified(try connection.pipeline([notification()]).last)
                _ = try batch.derived?.finish(returnsAll: false)
                try finishSearches(batch.searched)
                return result
            }
        } catch let error as PostgresError where error.isUniqueViolation {
            let violation = UniqueViolation(postgres: error.detail ?? "", schema) {
                QualifiedName.name($0) == error.table
            }
            throw StoreError.sameUniqueValues(
                violation, "\(work) “\(place.name)”", reason: error.detail ?? error.message, url: place.shownURL,
                underlying: NSError(
                    domain: NSPostgreSQLErrorDomain, code: 1, userInfo: [NSPostgreSQLStateErrorKey: error.state]))
        }
    }

    /// How many parameters a condition leaves to the new values of a batch update.
    private static let mostNewValues = 8_192

    /// Whether derived attributes or full-text indexes may change with rows of an entity, so that a batch must know
    /// which rows these are.
    func derives(from entity: EntityLayout) -> Bool {
        derivations.contains { $0.concerns(entity) } || !searches.written(by: entity).isEmpty
    }

    /// Has derived attributes and full-text indexes follow the changes of a batch. Of updated rows it may be known what
    /// changes.
    func noteDerived(
        inserted: [NSManagedObjectID] = [], updated: [NSManagedObjectID] = [], changing slots: [Int]? = nil,
        deleted: [NSManagedObjectID] = []
    ) throws {
        try batch.derived?.add(inserted: inserted, updated: updated, deleted: deleted)
        let indexes = searches.indexes.filter(\.mayWrite)
        batch.searched.add(inserted + deleted, changing: nil, indexes)
        batch.searched.add(updated, changing: slots, indexes)
    }

    /// The rows that a batch request applies to.
    enum BatchRows {
        /// The rows that the request's own condition finds.
        case condition(BatchSQL, BindingContext)
        /// The rows with the given keys: the database cannot compute the condition or the order.
        case keys(BatchSQL, [Int64])
    }

    func batchRows(_ rows: FetchPlan) throws -> BatchRows {
        let fetchQuery = try FetchQuery(rows, ordered: rows.limit > 0 || rows.offset > 0)
        let sql = try BatchSQL(
            schema: schema, plan: rows, predicate: fetchQuery.predicate?.skeleton,
            arguments: fetchQuery.predicate?.arguments ?? [], sortTerms: fetchQuery.order)
        let context = BindingContext(
            arguments: fetchQuery.predicate?.arguments ?? [], limit: rows.limit, offset: rows.offset, store: identity)
        let keys = sql.keys
        if keys.isExactInPostgres {
            do {
                let parameters = try ParameterBinder.parameters(keys.postgres.bindings, context)
                // The protocol counts parameters with 16 bits; new values need some, too.
                if parameters.count < 65_536 - Self.mostNewValues { return .condition(sql, context) }
            } catch is Inexact {}
        }
        return try evaluatedBatchRows(rows)
    }

    /// The keys of the rows, found by evaluation in memory.
    func evaluatedBatchRows(_ rows: FetchPlan) throws -> BatchRows {
        let fetchQuery = try FetchQuery(rows, ordered: rows.limit > 0 || rows.offset > 0)
        let keys = try evaluatedRows(rows, fetchQuery).map(\.objectID.key)
        var bare = FetchPlan(entity: rows.entity)
        bare.includesSubentities = rows.includesSubentities
        return .keys(try BatchSQL(schema: schema, plan: bare), keys)
    }

    /// Runs a part of a batch; if the server cannot compute a condition, runs it again with the rows found in memory.
    func withRows<Result>(_ plan: FetchPlan, _ body: (BatchRows) throws -> Result) throws -> Result {
        let rows = try batchRows(plan)
        guard case .condition = rows, plan.predicate != nil else { return try body(rows) }
        do { return try connection.part { try body(rows) } } catch let error as PostgresError
            where error.isSyntaxOrTypeError || error.isDataError
        { return try body(evaluatedBatchRows(plan)) }
    }

    /// A table of keys, `$n`.
    static func keyTable(_ number: Int) -> SQLFragment {
        "unnest(\(binding: .given(number))) AS keys(\(.key))"
    }

    /// The keys and entities of a batch's rows.
    func identifiers(_ rows: BatchRows, _ entity: EntityLayout) throws -> [NSManagedObjectID] {
        let result: PostgresResult
        switch rows {
        case .condition(let sql, let context): result = try query(sql.keys, context)
        case .keys(_, let keys):
            let table = try access(entity).table
            result = try query(
                "SELECT \(ColumnName.key), \(ColumnName.entity) FROM \(table) WHERE \(ColumnName.key) = ANY($1)",
                keys: keys)
        }
        return (0..<result.count).map { row in
            let layout = self.entity(numbered: result.integer(row, 1), kindOf: entity)
            return NSManagedObjectID(layout: layout, store: identity, key: result.integer(row, 0))
        }.sorted { $0.key < $1.key }
    }
}
