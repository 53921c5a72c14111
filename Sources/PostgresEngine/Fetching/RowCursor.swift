import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

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
