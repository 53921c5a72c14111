extension PostgresConnection {
    /// How a transaction begins.
    package enum TransactionKind: String, Sendable {
        case readWrite = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        /// All statements read one state of the database.
        case snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    }

    package func begin(_ kind: TransactionKind = .readWrite) throws { try execute(beginning(kind)) }
    package func commit() throws { if let statement = ending(commits: true) { try executeCommit(statement) } }

    /// Ends a transaction, or a part of one.
    ///
    /// - Throws: an error, too, if there is none, or if the server has rolled it back, which it does without one.
    func executeCommit(_ statement: String) throws {
        let isWholeEnd = statement == "COMMIT"
        guard !isWholeEnd || !isUsable || isInTransaction else {
            throw PostgresError(state: "25P01", message: "there is no transaction to commit", statement: statement)
        }
        let tag = try executeTagged(statement)
        guard !isWholeEnd || tag == statement else {
            throw PostgresError(state: "25P02", message: "the transaction was rolled back", statement: statement)
        }
    }

    /// Rolls the open transaction back; does nothing if there is none.
    package func rollback() throws {
        settle()
        if let statement = ending(commits: false) { try execute(statement) }
    }

    /// Runs a closure inside a transaction, which is committed when the closure returns and rolled back if it throws.
    package func transaction<Result>(
        _ kind: TransactionKind = .readWrite, _ body: () throws -> Result
    ) throws -> Result {
        try begin(kind)
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            // The first error is the one to report.
            try? rollback()
            throw error
        }
    }

    /// Whether the server has accepted a statement for parameters of these types.
    package func hasPrepared(_ sql: String, _ parameters: PostgresParameters) -> Bool {
        keepsStatements && statements.name(sql, parameters.types) != nil
    }

    /// Runs a statement whose failure does not affect the surrounding transaction, in one round trip if the statement
    /// is known.
    package func queryApart(_ sql: String, _ parameters: PostgresParameters) throws -> PostgresResult {
        // A failure to prepare it would end the transaction before the savepoint.
        guard !keepsStatements || statements.name(sql, parameters.types) != nil else {
            return try part { try query(sql, parameters) }
        }
        do {
            return try pipeline([
                .init("SAVEPOINT pippin_part"), .init(sql, parameters), .init("RELEASE SAVEPOINT pippin_part"),
            ])[1]
        } catch {
            try execute("ROLLBACK TO SAVEPOINT pippin_part; RELEASE SAVEPOINT pippin_part")
            guard (error as? PostgresError)?.isOutdatedPlan == true else { throw error }
            // The tables have changed since the statement was prepared. Later ones get other names.
            statements.removeAll()
            return try part { try query(sql, parameters) }
        }
    }

    /// Runs a closure whose changes are undone if it throws, while the surrounding transaction goes on.
    package func part<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("SAVEPOINT pippin_part")
        do {
            let result = try body()
            try execute("RELEASE SAVEPOINT pippin_part")
            return result
        } catch {
            try execute("ROLLBACK TO SAVEPOINT pippin_part; RELEASE SAVEPOINT pippin_part")
            throw error
        }
    }
}
