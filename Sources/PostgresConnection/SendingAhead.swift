import CLibPQ

extension PostgresConnection {
    /// Sends a statement, and does not wait for its rows: the server finds them while something else is done here.
    ///
    /// - Parameters:
    ///   - sql: the statement, which is not kept.
    ///   - parameters: its values.
    /// - Returns: what its rows are asked for by.
    /// - Throws: the error of a connection that is lost.
    package func sendAhead(_ sql: String, _ parameters: PostgresParameters = .init()) throws -> StatementAhead {
        settle()
        let sent = StatementAhead(sql, isByItself: !isInTransaction)
        roundTrips += 1
        let isSent = parameters.withParts { count, values, counts, formats in
            PQsendQueryParams(handle, sql, count, parameters.types, values, counts, formats, 1) == 1
        }
        guard isSent else { throw PostgresError(nil, statement: sql, connection: handle) }
        ahead = sent
        return sent
    }

    /// The rows of a statement that was sent.
    package func result(of statement: StatementAhead) throws -> PostgresResult {
        if statement === ahead { settle() }
        guard let result = statement.result else {
            throw PostgresError(
                state: PostgresError.connectionFailure, message: "the statement was not sent by this connection")
        }
        return try result.get()
    }

    /// Waits for what was sent before something else is.
    func settle() {
        openCopy?.pause()
        guard let sent = ahead else { return }
        ahead = nil
        watch?.begin()
        defer { watch?.end() }
        // All of a statement's results are read, so that the connection is free for the next one.
        while let pointer = PQgetResult(handle) {
            let result = Result { try checked(pointer, sent.sql) }
            if sent.result == nil { sent.result = result }
            if !isUsable { break }
        }
    }
}
