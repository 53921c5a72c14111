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
