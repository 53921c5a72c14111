import CPippinPQ
import Foundation

/// Stops what a connection is doing, from any thread.
package final class Cancellation: @unchecked Sendable {
    // @unchecked Sendable: the pointer never changes, and the library allows its use from any thread.
    private let pointer: OpaquePointer?

    init(_ pointer: OpaquePointer?) { self.pointer = pointer }

    deinit { PQfreeCancel(pointer) }

    /// Asks the server to stop the running statement, which then throws an error with ``PostgresError/isCancelled``.
    package func cancel() {
        var text = [CChar](repeating: 0, count: 256)
        PQcancel(pointer, &text, Int32(text.count))
    }
}

extension PostgresConnection {
    /// The cancellation for statements of this connection.
    package func cancellation() -> Cancellation { Cancellation(PQgetCancel(handle)) }
}

extension PostgresConnection {
    /// Runs a closure in one transaction. Transactions that are begun inside it become parts of it, and what they
    /// commit takes effect when the whole transaction does.
    ///
    /// - Parameter body: may use the connection as if it were its own.
    /// - Returns: what the closure returns.
    /// - Throws: the errors of the closure; nothing of the transaction is then kept.
    package func wholeTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        guard !isWhole else { return try body() }
        try begin()
        isWhole = true
        do {
            let result = try body()
            isWhole = false
            parts = 0
            try executeCommit("COMMIT")
            return result
        } catch {
            isWhole = false
            parts = 0
            // The first error is the one to report.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// The statement that begins a transaction, or a part of the whole one if there is one.
    ///
    /// - Throws: an error for a transaction that writes where the role or the database is to read only: `READ WRITE`
    ///   would override what is set.
    package func beginning(_ kind: TransactionKind = .readWrite) throws -> String {
        guard isWhole else {
            guard kind != .readWrite || !isReadOnlyByDefault else {
                throw PostgresError.readOnlyByDefault(kind.rawValue)
            }
            return kind.rawValue
        }
        parts += 1
        return "SAVEPOINT pippin_whole_\(parts)"
    }

    /// The statement that ends the transaction, or the part of the whole one.
    func ending(commits: Bool) -> String? {
        guard isWhole else { return commits ? "COMMIT" : isInTransaction ? "ROLLBACK" : nil }
        guard parts > 0 else { return nil }
        defer { parts -= 1 }
        let name = "pippin_whole_\(parts)"
        return commits ? "RELEASE SAVEPOINT \(name)" : "ROLLBACK TO SAVEPOINT \(name); RELEASE SAVEPOINT \(name)"
    }
}

extension PostgresConnection {
    /// Copies the rows of a query on this connection into a table of another connection's database, as `COPY` writes
    /// and reads them: memory holds one row at a time.
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - table: the table and its columns, in the order of the query's: `"public"."book" ("_id", "title")`.
    ///   - target: the connection to write to.
    /// - Throws: the errors of either server.
    package func copyRows(of query: String, into table: String, of target: PostgresConnection) throws {
        let out = "COPY (\(query)) TO STDOUT (FORMAT binary)"
        let into = "COPY \(table) FROM STDIN (FORMAT binary)"
        watch?.begin()
        target.watch?.begin()
        defer {
            watch?.end()
            target.watch?.end()
        }
        try begin(out, of: handle, wants: PGRES_COPY_OUT)
        do { try target.begin(into, of: target.handle, wants: PGRES_COPY_IN) } catch {
            cancellation().cancel()
            while true {
                var buffer: UnsafeMutablePointer<CChar>?
                guard PQgetCopyData(handle, &buffer, 0) > 0 else { break }
                PQfreemem(buffer)
            }
            drain()
            throw error
        }
        var failure: (any Error)?
        while true {
            var buffer: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(handle, &buffer, 0)
            defer { PQfreemem(buffer) }
            guard count > 0 else { break }
            guard failure == nil else { continue }
            if PQputCopyData(target.handle, buffer, count) != 1 {
                failure = PostgresError(nil, statement: into, connection: target.handle)
                cancellation().cancel()
            }
        }
        do { try finish(out) } catch { failure = failure ?? error }
        _ =
            failure == nil
            ? PQputCopyEnd(target.handle, nil) : PQputCopyEnd(target.handle, "the rows could not be read")
        do { try target.finish(into) } catch { failure = failure ?? error }
        if let failure { throw failure }
    }

    private func begin(_ sql: String, of handle: OpaquePointer, wants status: ExecStatusType) throws {
        noteSending(sql)
        let result = PQexec(handle, sql)
        defer { PQclear(result) }
        guard PQresultStatus(result) == status else {
            throw PostgresError(result, statement: sql, connection: handle)
        }
    }

    private func finish(_ sql: String) throws {
        var failure: PostgresError?
        while let result = PQgetResult(handle) {
            defer { PQclear(result) }
            if PQresultStatus(result) != PGRES_COMMAND_OK, failure == nil {
                failure = PostgresError(result, statement: sql, connection: handle)
            }
        }
        if let failure { throw failure }
    }

    private func drain() { while let result = PQgetResult(handle) { PQclear(result) } }
}
