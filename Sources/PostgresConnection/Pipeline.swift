import CLibPQ

extension PostgresConnection {
    /// A statement with its values, to be sent with others.
    package struct Request {
        package let sql: String
        let parameters: PostgresParameters

        package init(_ sql: String, _ parameters: PostgresParameters = .init()) {
            (self.sql, self.parameters) = (sql, parameters)
        }
    }

    /// Sends several statements at once, and waits once for all answers. The first one that fails keeps those after it from running.
    ///
    /// Outside of a transaction they are one by themselves.
    ///
    /// - Parameter requests: the statements. They must not need one another's rows here.
    /// - Returns: a result for each.
    /// - Throws: the first error.
    package func pipeline(_ requests: [Request]) throws -> [PostgresResult] {
        if requests.count == 1 { return [try query(requests[0].sql, requests[0].parameters)] }
        guard !requests.isEmpty else { return [] }
        settle()
        var names: [String] = []
        if keepsStatements { names = try requests.map { try prepared($0.sql, $0.parameters.types) } }
        guard PQenterPipelineMode(handle) == 1 else {
            throw PostgresError(nil, statement: nil, connection: handle)
        }
        defer { PQexitPipelineMode(handle) }
        roundTrips += 1
        var isSent = true
        for (index, request) in requests.enumerated() where isSent {
            isSent = request.parameters.withParts { values, counts, formats in
                let count = Int32(values.count)
                return keepsStatements
                    ? PQsendQueryPrepared(handle, names[index], count, values, counts, formats, 1) == 1
                    : PQsendQueryParams(
                        handle, request.sql, count, request.parameters.types, values, counts, formats, 1) == 1
            }
        }
        isSent = PQpipelineSync(handle) == 1 && isSent
        guard isSent else { throw PostgresError(nil, statement: nil, connection: handle) }
        return try awaiting { try pipelineResults(requests) }
    }

    private func pipelineResults(_ requests: [Request]) throws -> [PostgresResult] {
        var results: [PostgresResult] = []
        var failure: PostgresError?
        // After each statement's results comes a nil; after the last one's, the mark that all were answered.
        for request in requests {
            while let pointer = PQgetResult(handle) {
                let result = PostgresResult(pointer)
                do { try check(pointer, request.sql) } catch let error as PostgresError {
                    if failure == nil { failure = error }
                    if !isUsable { throw error }
                }
                results.append(result)
            }
            if !isUsable { throw failure ?? PostgresError(nil, statement: request.sql, connection: handle) }
        }
        while let mark = PQgetResult(handle) {
            let isEnd = PQresultStatus(mark) == PGRES_PIPELINE_SYNC
            PQclear(mark)
            if isEnd { break }
        }
        if let failure { throw failure }
        return results
    }
}
