/// A name as SQL: always in quotes, so that keywords and capital letters have no effect. A name qualified with its
/// schema (``QualifiedName``) becomes two quoted names.
package func quotedName(_ name: String) -> String {
    guard name.contains(QualifiedName.separator) else { return quotedPart(name) }
    return name.split(separator: QualifiedName.separator, maxSplits: 1, omittingEmptySubsequences: false)
        .map { quotedPart(String($0)) }.joined(separator: ".")
}

private func quotedPart(_ name: String) -> String {
    // The server ends a name at a zero byte, so no name contains one.
    "\"" + doubled("\"", in: name.filter { $0 != "\0" && $0 != QualifiedName.separator }) + "\""
}

/// The name of a table together with that of its schema, as one text. A statement thereby names the schemas of its
/// tables itself, and does not depend on session settings.
package enum QualifiedName {
    /// A character that occurs in no other name.
    static let separator: Character = "\u{1F}"

    /// A text without the separator.
    package static func part(_ name: String) -> String { name.filter { $0 != separator } }

    package static func make(schema: String, name: String) -> String { "\(part(schema))\(separator)\(part(name))" }

    /// The name of the schema.
    package static func schema(_ qualified: String) -> String {
        qualified.firstIndex(of: separator).map { String(qualified[..<$0]) } ?? ""
    }

    /// The name without its schema.
    package static func name(_ qualified: String) -> String {
        qualified.firstIndex(of: separator).map { String(qualified[qualified.index(after: $0)...]) } ?? qualified
    }
}

/// A text as an SQL literal, for the few places that take no parameters.
package func quotedText(_ text: String) -> String {
    let plain = doubled("'", in: text.filter { $0 != "\0" })
    guard plain.unicodeScalars.contains("\\") else { return "'\(plain)'" }
    return " E'\(doubled("\\", in: plain))'"
}

/// A text in which a mark is doubled, also before a combining character, with which it is one `Character`.
private func doubled(_ mark: Unicode.Scalar, in text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        result.append(scalar)
        if scalar == mark { result.append(scalar) }
    }
    return String(result)
}

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
