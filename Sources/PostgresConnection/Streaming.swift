import CLibPQ

extension PostgresConnection {
    /// Runs a statement and hands out its rows as they arrive, so that they need not all be in memory.
    ///
    /// - Parameters:
    ///   - sql: the statement.
    ///   - parameters: its values.
    ///   - body: receives a result with one row, and returns whether to go on. It must not use the connection.
    /// - Throws: the server's errors, and the errors of `body`.
    package func forEachRow(
        _ sql: String, _ parameters: PostgresParameters = .init(), _ body: (PostgresResult) throws -> Bool
    ) throws {
        settle()
        let name = keepsStatements ? try prepared(sql, parameters.types) : nil
        noteSending(sql)
        let isSent = parameters.withParts { count, values, counts, formats in
            guard let name else {
                return PQsendQueryParams(handle, sql, count, parameters.types, values, counts, formats, 1) == 1
            }
            return PQsendQueryPrepared(handle, name, count, values, counts, formats, 1) == 1
        }
        guard isSent, PQsetSingleRowMode(handle) == 1 else {
            throw PostgresError(nil, statement: sql, connection: handle)
        }
        watch?.begin()
        defer { watch?.end() }
        var failure: (any Error)?
        var goesOn = true
        while let pointer = PQgetResult(handle) {
            let result = PostgresResult(pointer)
            guard failure == nil else { continue }
            do {
                try check(pointer, sql)
                if goesOn, PQresultStatus(pointer) == PGRES_SINGLE_TUPLE, try !body(result) {
                    goesOn = false
                    cancellation().cancel()
                }
            } catch {
                // The cancellation was intended.
                if !goesOn, (error as? PostgresError)?.isCancelled == true { continue }
                failure = error
                if goesOn, !(error is PostgresError) { cancellation().cancel() }
            }
        }
        if let failure { throw failure }
    }
}
