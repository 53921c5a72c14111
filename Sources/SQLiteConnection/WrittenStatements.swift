import CPippinSQLite

extension Connection {
    /// The prepared statement of a text that a person wrote: one statement that reads tables, and nothing else. It is
    /// prepared once, then taken from a cache.
    ///
    /// - Parameter sql: the text.
    /// - Returns: the statement, reset and without bindings.
    /// - Throws: SQLite's error for a text that is wrong, and an error for one that is more than a `SELECT`.
    package func readingStatement(_ sql: String) throws -> Statement {
        if let known = writtenStatements[sql], !known.isBusy {
            known.reset()
            return known
        }
        sqlite3_set_authorizer(
            handle,
            { _, action, _, function, _, _ in
                switch action {
                case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: return SQLITE_OK
                case SQLITE_FUNCTION:
                    let refused = ["load_extension", "fts3_tokenizer", "writefile", "edit"]
                    let isRefused = function.map { name in refused.contains { sqlite3_stricmp($0, name) == 0 } }
                    return isRefused == false ? SQLITE_OK : SQLITE_DENY
                default: return SQLITE_DENY
                }
            }, nil)
        defer { sqlite3_set_authorizer(handle, nil, nil) }
        let statement: Statement
        do { statement = try prepare(sql) } catch let error as SQLiteError where error.code == SQLITE_AUTH {
            throw notReading(sql)
        }
        guard sqlite3_stmt_readonly(statement.handle) != 0 else { throw notReading(sql) }
        writtenStatements.insert(statement, for: sql)
        return statement
    }

    private func notReading(_ sql: String) -> SQLiteError {
        SQLiteError(
            extendedCode: SQLITE_ERROR,
            message: "only one query is run here, which changes nothing and uses no pragmas and no other files",
            sql: sql,
            path: path)
    }
}
