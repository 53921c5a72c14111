import CPippinPQ

extension PostgresConnection {
    /// A statement with its values, to be sent together with others.
    package struct Request {
        package let sql: String
        let parameters: PostgresParameters

        package init(_ sql: String, _ parameters: PostgresParameters = .init()) {
            (self.sql, self.parameters) = (sql, parameters)
        }
    }

    /// Sends several statements at once, and waits once for all answers. After the first one that fails, none is run.
    ///
    /// Outside of a transaction, they form one by themselves.
    ///
    /// - Parameter requests: the statements. None may depend on rows that the caller reads from another.
    /// - Returns: a result for each.
    /// - Throws: the first error.
    package func pipeline(_ requests: [Request]) throws -> [PostgresResult] {
        if requests.count == 1 { return [try query(requests[0].sql, requests[0].parameters)] }
        guard !requests.isEmpty else { return [] }
        return try pipeline(requests, commits: false).results
    }

    /// The same for the last statements of a transaction with its `COMMIT`, which needs no separate wait. If one of
    /// them fails, the transaction stays open, and is not committed.
    ///
    /// - Parameter requests: the statements.
    /// - Returns: a result for each, and whether a warning came with the answer to `COMMIT`.
    /// - Throws: the first error. If the connection is lost, it is unknown whether the server has committed.
    package func pipelineAndCommit(_ requests: [Request]) throws -> (results: [PostgresResult], warns: Bool) {
        try pipeline(requests, commits: true)
    }

    private func pipeline(
        _ requests: [Request], commits: Bool
    ) throws -> (results: [PostgresResult], warns: Bool) {
        settle()
        let names = try keepsStatements ? self.names(requests) : []
        guard PQenterPipelineMode(handle) == 1 else {
            forget(names, requests)
            throw PostgresError(nil, statement: nil, connection: handle)
        }
        // libpq can fail to write and still count the connection as good; it then stays in this mode for ever.
        defer { if PQexitPipelineMode(handle) != 1 { hasLostAnswers = true } }
        roundTrips += 1
        defer { sentAt = nil }
        if statementReport != nil { (sentAt, rowsSoFar) = (.now, 0) }
        var isSent = true
        for (index, request) in requests.enumerated() where isSent {
            statementLog?(request.sql)
            isSent = send(request, keepsStatements ? names[index] : nil)
        }
        if commits { statementLog?(Self.commit) }
        // Unprepared, since it takes no time to plan.
        if commits { isSent = isSent && PQsendQueryParams(handle, Self.commit, 0, nil, nil, nil, nil, 1) == 1 }
        let refusal = isSent ? nil : PostgresError(nil, statement: nil, connection: handle)
        guard PQpipelineSync(handle) == 1 else {
            forget(names, requests)
            // Without the mark, the end of the answers cannot be recognized.
            let failure = refusal ?? PostgresError(nil, statement: nil, connection: handle)
            throw PostgresError(state: PostgresError.connectionFailure, message: failure.message)
        }
        if let refusal {
            forget(names, requests)
            // What was sent before the refused statement is answered.
            awaiting { discardResults() }
            throw refusal
        }
        return try awaiting { try pipelineResults(requests, names, commits: commits) }
    }

    /// Reads all answers up to the mark that ends the pipeline.
    private func discardResults() {
        var ends = 0
        // One nil follows the results of each statement, and no second one.
        while isUsable, ends < 2 {
            guard let result = PQgetResult(handle) else {
                ends += 1
                continue
            }
            ends = 0
            let isEnd = PQresultStatus(result) == PGRES_PIPELINE_SYNC
            PQclear(result)
            if isEnd { return }
        }
        hasLostAnswers = true
    }

    private static let commit = "COMMIT"

    /// The name of a statement on the server, and whether it must still be prepared there.
    private struct StatementName {
        let text: String
        let isNew: Bool
    }

    private func names(_ requests: [Request]) throws -> [StatementName] {
        if statements.isFull(with: requests.count) {
            // Before the first name is taken, so that none of these statements is dropped.
            let new = requests.filter { statements.name($0.sql, $0.parameters.types) == nil }
            try makeRoom(for: new.count)
        }
        return requests.map(name)
    }

    private func name(_ request: Request) -> StatementName {
        if let known = statements.name(request.sql, request.parameters.types) {
            return StatementName(text: known, isNew: false)
        }
        return StatementName(text: statements.add(request.sql, request.parameters.types), isNew: true)
    }

    private func forget(_ names: [StatementName], _ requests: [Request]) {
        for (name, request) in zip(names, requests) where name.isNew {
            statements.remove(request.sql, request.parameters.types)
        }
    }

    private func send(_ request: Request, _ name: StatementName?) -> Bool {
        request.parameters.withParts { count, values, counts, formats in
            guard let name else {
                return PQsendQueryParams(
                    handle, request.sql, count, request.parameters.types, values, counts, formats, 1) == 1
            }
            if name.isNew, PQsendPrepare(handle, name.text, request.sql, count, request.parameters.types) != 1 {
                return false
            }
            return PQsendQueryPrepared(handle, name.text, count, values, counts, formats, 1) == 1
        }
    }

    private func pipelineResults(
        _ requests: [Request], _ names: [StatementName], commits: Bool
    ) throws -> (results: [PostgresResult], warns: Bool) {
        var results: [PostgresResult] = []
        results.reserveCapacity(requests.count)
        var failure: PostgresError?
        // Each statement's results are followed by a nil, and the last one's by the mark that ends the pipeline.
        func answer(to sql: String, _ take: (PostgresResult) -> Void) throws {
            while let pointer = PQgetResult(handle) {
                let result = PostgresResult(pointer)
                do { try check(pointer, sql) } catch let error as PostgresError {
                    if failure == nil { failure = error }
                    if !isUsable { throw error }
                }
                take(result)
            }
            if !isUsable { throw failure ?? PostgresError(nil, statement: sql, connection: handle) }
        }
        for (index, request) in requests.enumerated() {
            if !names.isEmpty, names[index].isNew {
                // Preparing is not reported.
                let sent = sentAt
                sentAt = nil
                try answer(to: request.sql) { _ in }
                sentAt = sent
                // A statement after a failure is not even prepared.
                if failure != nil { statements.remove(request.sql, request.parameters.types) }
            }
            try answer(to: request.sql) { results.append($0) }
        }
        let warnings = warningCount
        if commits { try answer(to: Self.commit) { _ in } }
        let warns = warningCount != warnings
        var isAtEnd = false
        while !isAtEnd, let mark = PQgetResult(handle) {
            isAtEnd = PQresultStatus(mark) == PGRES_PIPELINE_SYNC
            PQclear(mark)
        }
        if !isAtEnd { hasLostAnswers = true }
        if let failure { throw failure }
        guard isAtEnd, results.count == requests.count else {
            hasLostAnswers = true
            throw PostgresError(
                state: PostgresError.connectionFailure, message: "the answers to a pipeline did not come to their end")
        }
        return (results, warns)
    }
}
