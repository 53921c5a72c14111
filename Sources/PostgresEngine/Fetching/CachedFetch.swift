import CoreDataModel
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine
import Synchronization

/// Identifies fetches with the same SQL apart from bound values.
struct FetchKey: Hashable {
    private let entity: Int
    private let includesSubentities: Bool
    private let predicate: SkeletonKey?
    private let order: [SortTerm]
    private let hasLimit: Bool
    private let hasOffset: Bool
    private let result: FetchResult
    private let columns: DictionaryKey

    init(_ plan: FetchPlan, _ fetchQuery: FetchQuery, _ result: FetchResult) {
        entity = plan.entity.number
        includesSubentities = plan.includesSubentities
        predicate = fetchQuery.predicate?.key
        order = fetchQuery.order
        hasLimit = plan.limit > 0
        hasOffset = plan.offset > 0
        self.result = result
        columns = DictionaryKey(plan, having: fetchQuery.having)
    }
}

/// The conditions of a plan, as trees.
struct FetchQuery {
    var predicate: PreparedPredicate?
    var order: [SortTerm] = []
    var having: PredicateTree?

    init(_ plan: FetchPlan, ordered: Bool = true) throws {
        predicate = try plan.predicate.map { try preparedPredicate(of: $0) }
        order = ordered && !plan.sortDescriptors.isEmpty ? try sortTerms(of: plan.sortDescriptors) : []
        having = try plan.having.map { try predicateTree(of: $0) }
    }
}

/// A fetch's SQL, generated once for all plans of one form.
final class CachedFetch {
    let fetch: FetchStatement
    let sql: SQLStatement
    let reader: RowReader?
    /// Whether the database answers as evaluation in memory does.
    let isExact: Bool
    /// Whether it cannot fail for any row, whatever the rows hold.
    let failsForNoRow: Bool
    /// How many rows it found the last time.
    let latestCount = Atomic<Int>(0)

    init(_ fetch: FetchStatement, failsForNoRow: Bool, _ context: ReadingContext) {
        self.fetch = fetch
        self.failsForNoRow = failsForNoRow
        isExact = fetch.sql.isExactInPostgres
        sql = fetch.sql.postgres
        reader = fetch.shape.map { RowReader($0, context) }
    }

    var isKept: Bool { fetch.isReusable && sql.bindings.count <= 256 }
}

extension OpenDatabase {
    /// The cached fetch for a plan.
    func cachedFetch(_ plan: FetchPlan, _ fetchQuery: FetchQuery, _ result: FetchResult) throws -> CachedFetch {
        let key = FetchKey(plan, fetchQuery, result)
        if let known = statements.fetch(key) { return known }
        let statement = try FetchSQL(schema: schema, groupsEntities: true, hasNullLast: true).statement(
            plan, result: result, predicate: fetchQuery.predicate?.skeleton,
            arguments: fetchQuery.predicate?.arguments ?? [], sortTerms: fetchQuery.order, having: fetchQuery.having)
        let failsForNoRow = plan.columns.isEmpty && (fetchQuery.predicate?.skeleton.computesNothing ?? true)
        let cached = CachedFetch(statement, failsForNoRow: failsForNoRow, readingContext)
        if cached.isKept { statements.add(cached, for: key) }
        return cached
    }

    /// Runs a fetch in the database alone.
    ///
    /// - Throws: `Inexact` if the database's answer would differ from that of memory.
    func runExactly(
        _ plan: FetchPlan, _ fetchQuery: FetchQuery, _ result: FetchResult
    ) throws -> (fetch: CachedFetch, result: PostgresResult) {
        let cached = try cachedFetch(plan, fetchQuery, result)
        guard cached.isExact else { throw Inexact() }
        let context = BindingContext(
            arguments: fetchQuery.predicate?.arguments ?? [], limit: plan.limit, offset: plan.offset, store: identity)
        let parameters = try ParameterBinder.parameters(cached.sql.bindings, context)
        // The protocol counts parameters with 16 bits.
        guard parameters.count < 65_536 else { throw Inexact() }
        do {
            // In a transaction, a refused statement would end the transaction. The server does not refuse a statement
            // that it has accepted before and that cannot fail for a row.
            let isSafe =
                !connection.isInTransaction
                || cached.failsForNoRow && connection.hasPrepared(cached.sql.text, parameters)
            let result =
                try isSafe
                ? connection.query(cached.sql.text, parameters) : connection.queryApart(cached.sql.text, parameters)
            return (cached, result)
        } catch let error as PostgresError where error.isSyntaxOrTypeError || error.isDataError {
            // Memory may be able to compute what the server refuses to, or cannot.
            throw Inexact()
        }
    }
}
