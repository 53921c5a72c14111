import CLibPQ

extension PostgresConnection {
    /// Sends a statement without waiting for its rows: the server finds them while other work is done here.
    ///
    /// - Parameters:
    ///   - sql: the statement, which is not kept prepared.
    ///   - parameters: its values.
    /// - Returns: the handle by which its rows are requested.
    /// - Throws: the error of a lost connection.
    package func sendAhead(_ sql: String, _ parameters: PostgresParameters = .init()) throws -> StatementAhead {
        settle()
        let sent = StatementAhead(sql, isByItself: !isInTransaction)
        noteSending(sql)
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

    /// Receives the answers to what was sent before, so that something else can be sent.
    func settle() {
        openCopy?.pause()
        guard let sent = ahead else { return }
        ahead = nil
        watch?.begin()
        defer { watch?.end() }
        // All of a statement's results must be read to free the connection.
        while let pointer = PQgetResult(handle) {
            let result = Result { try checked(pointer, sent.sql) }
            if sent.result == nil { sent.result = result }
            if !isUsable { break }
        }
    }
}
