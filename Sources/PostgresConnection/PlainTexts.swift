import CLibPQ

extension PostgresConnection {
    /// Runs one statement as plain text, for servers that support nothing else, such as the console of PgBouncer.
    ///
    /// - Parameter sql: the statement.
    /// - Returns: the rows: texts by column, without nulls.
    /// - Throws: the server's errors.
    package func plainTexts(_ sql: String) throws -> [[String: String]] {
        settle()
        roundTrips += 1
        let result = awaiting { PQexec(handle, sql) }
        defer { PQclear(result) }
        try check(result, sql)
        let names = (0..<PQnfields(result)).map { PQfname(result, $0).map { String(cString: $0) } ?? "" }
        return (0..<PQntuples(result)).map { row in
            var texts: [String: String] = [:]
            for (column, name) in names.enumerated() where PQgetisnull(result, row, Int32(column)) == 0 {
                texts[name] = PQgetvalue(result, row, Int32(column)).map { String(cString: $0) }
            }
            return texts
        }
    }
}
