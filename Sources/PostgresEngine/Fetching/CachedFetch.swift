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

// Computations on values can fail: a number that does not fit, a division by zero. Comparisons cannot.
extension PredicateTree {
    /// Whether stored values are only compared with given ones: such a condition cannot fail for any row.
    var computesNothing: Bool {
        switch self {
        case .constant: true
        case .and(let parts), .or(let parts): parts.allSatisfy(\.computesNothing)
        case .not(let part): part.computesNothing
        case .comparison(let comparison):
            switch comparison.comparison {
            case .matches, .like: false
            default: comparison.left.computesNothing && comparison.right.computesNothing
            }
        }
    }
}

extension ExpressionTree {
    fileprivate var computesNothing: Bool {
        switch self {
        case .constant, .argument, .evaluatedObject: true
        case .keyPath(let keys): !keys.contains { $0.hasPrefix("@") }
        default: false
        }
    }
}

/// The prepared statements for the fetches and entities of an open store, shared by all connections that read it.
final class StatementCache: Sendable {
    private struct State: @unchecked Sendable {
        // @unchecked Sendable: the content does not change, apart from atomic counts.
        var fetches: [FetchKey: CachedFetch] = [:]
        var accesses: [EntityAccess?] = []
    }

    private let state = Mutex(State())

    /// The cached fetch of a form.
    func fetch(_ key: FetchKey) -> CachedFetch? {
        state.withLock { state in Shared(value: state.fetches[key]) }.value
    }

    func add(_ fetch: CachedFetch, for key: FetchKey) {
        let shared = Shared(value: (key, fetch))
        state.withLock { state in
            if state.fetches.count >= 512 { state.fetches.removeAll() }
            state.fetches[shared.value.0] = shared.value.1
        }
    }

    /// The prepared access to an entity's rows, by its place.
    func access(_ index: Int) -> EntityAccess? {
        state.withLock { state in
            Shared(value: state.accesses.indices.contains(index) ? state.accesses[index] : nil)
        }.value
    }

    func add(_ access: EntityAccess, at index: Int) {
        let shared = Shared(value: access)
        state.withLock { state in
            while state.accesses.count <= index { state.accesses.append(nil) }
            state.accesses[index] = shared.value
        }
    }

    private struct Shared<Value>: @unchecked Sendable {
        // @unchecked Sendable: see `State`.
        let value: Value
    }
}

/// The rows that a fetch finds, in portions from a cursor on the server, all of the state in which it was opened.
final class RowCursor: RowPortions {
    private let store: OpenDatabase
    private let connection: PostgresConnection
    let reader: RowReader
    private let name: String
    private var isAtEnd = false
    /// The next rows, if they were requested already.
    private var ahead: StatementAhead?

    /// Opens a cursor on a connection whose transaction reads one state.
    init(_ store: OpenDatabase, _ text: String, _ reader: RowReader, _ parameters: PostgresParameters) throws {
        self.store = store
        self.reader = reader
        connection = store.connection
        store.cursors += 1
        name = "pippin_cursor_\(store.cursors)"
        try connection.queryOnce("DECLARE \(name) NO SCROLL CURSOR FOR \(text)", parameters)
    }

    deinit {
        guard connection.isUsable, !isAtEnd else { return }
        // The cursor ends with the transaction at the latest.
        try? connection.execute("CLOSE \(name)")
    }

    func next(_ count: Int) throws -> ContiguousArray<Row> {
        try store.run("fetch from") { try nextResult(count).map { try reader.rows($0) } ?? [] }
    }

    /// The next rows as the server sends them; nil at the end.
    ///
    /// - Parameters:
    ///   - count: how many rows.
    ///   - goesOn: whether the server is to find as many more at once, so that they are ready for the next call.
    /// - Returns: a result, which is not empty.
    /// - Throws: the server's errors.
    func nextResult(_ count: Int, goesOn: Bool = false) throws -> PostgresResult? {
        guard !isAtEnd else { return nil }
        // The server counts with 32 bits.
        let count = min(count, Int(Int32.max))
        let fetch = "FETCH FORWARD \(count) FROM \(name)"
        let result: PostgresResult
        if let ahead {
            self.ahead = nil
            result = try connection.result(of: ahead)
        } else {
            result = try connection.queryOnce(fetch)
        }
        if result.count < count {
            isAtEnd = true
            try connection.execute("CLOSE \(name)")
        } else if goesOn {
            ahead = try connection.sendAhead(fetch)
        }
        return result.count == 0 ? nil : result
    }
}

extension OpenDatabase {
    /// The rows that a plan finds, in portions; nil if the database cannot answer it alone. For a connection that reads
    /// one state.
    func cursor(_ plan: FetchPlan) throws -> RowCursor? {
        try run("fetch from") {
            let fetchQuery = try FetchQuery(plan)
            let fetch = try cachedFetch(plan, fetchQuery, .rows)
            // A failure for one row would come after other rows have been handed out.
            guard fetch.isExact, fetch.failsForNoRow, let reader = fetch.reader else { return nil }
            let context = BindingContext(
                arguments: fetchQuery.predicate?.arguments ?? [], limit: plan.limit, offset: plan.offset,
                store: identity)
            do {
                let parameters = try ParameterBinder.parameters(fetch.sql.bindings, context)
                guard parameters.count < 65_536 else { return nil }
                return try connection.part { try RowCursor(self, fetch.sql.text, reader, parameters) }
            } catch is Inexact { return nil } catch let error as PostgresError
                where error.isSyntaxOrTypeError || error.isDataError
            {
                return nil
            }
        }
    }
}
