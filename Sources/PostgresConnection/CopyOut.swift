import CLibPQ
import Foundation

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
