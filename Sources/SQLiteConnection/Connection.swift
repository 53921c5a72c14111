import CSQLite

/// One open SQLite database: prepares statements, keeps them for reuse, runs transactions.
///
/// A connection and its statements are confined to one queue or lock at a time, which the owner must ensure: SQLite's
/// own mutexes are switched off, and nothing here is `Sendable`. All errors are ``SQLiteError``.
package final class Connection {
    /// How the file was opened.
    package let mode: OpenMode
    let database: DatabaseHandle
    private var cache = StatementCache()
    var longTransaction: LongTransaction?
    /// How long statements wait for another connection's lock, in milliseconds; nil while a pragma may have changed it.
    private var knownBusyTimeout: Int32?

    /// Opens a database file.
    ///
    /// - Parameters:
    ///   - path: the file's path. SQLite reads the file only when the first statement runs.
    ///   - mode: whether the file may be written or created.
    ///   - busyTimeout: seconds to wait for another connection's lock before `SQLITE_BUSY` is thrown.
    /// - Throws: SQLite's error if the file cannot be opened or created.
    package init(path: String, mode: OpenMode, busyTimeout: Double = 10) throws {
        self.database = try DatabaseHandle(path: path, mode: mode)
        self.mode = mode
        setBusyTimeout(Int32(clamping: Int(min(max(0, busyTimeout), 1_000_000) * 1000)))
    }

    /// The database file's path.
    package var path: String { database.path }

    var handle: OpaquePointer { database.pointer }

    // MARK: Statements

    /// Runs one or several statements, ignoring their rows.
    package func execute(_ sql: String) throws {
        knownBusyTimeout = nil
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw database.error(code, sql: sql) }
    }

    /// Prepares a new statement.
    package func prepare(_ sql: String) throws -> Statement {
        try Statement(sql: sql, database: database, isPersistent: false)
    }

    /// The prepared statement of an SQL text: prepared once, then taken from the cache.
    ///
    /// The statement is reset and without bindings. While a statement of that text is being stepped through, a second
    /// one is prepared, so that two readers never share a cursor.
    package func statement(_ sql: String) throws -> Statement {
        if let cached = cache[sql] {
            if !cached.isBusy {
                cached.reset()
                return cached
            }
            return try prepare(sql)
        }
        let statement = try Statement(sql: sql, database: database, isPersistent: true)
        cache.insert(statement, for: sql)
        return statement
    }

    /// Finalizes the cached statements, which is required before a table is dropped or the file is replaced.
    package func removeCachedStatements() {
        cache.removeAll()
    }

    /// Whether statements that change rows can return them (`RETURNING`): SQLite 3.35 and later.
    package var returnsChangedRows: Bool { sqlite3_libversion_number() >= 3_035_000 }

    /// Whether rows can be changed to values of a selection made first (`UPDATE … FROM`): SQLite 3.33 and later.
    package var updatesFromSelections: Bool { sqlite3_libversion_number() >= 3_033_000 }

    /// Whether the triggers of the database can be switched off without those of the connection: SQLite 3.35 and later.
    package var separatesTemporaryTriggers: Bool { sqlite3_libversion_number() >= 3_035_000 }

    /// Switches the triggers of the database on or off for this connection, but not temporary ones.
    package func setTriggersRun(_ run: Bool) throws {
        let code = csqlite_set_triggers_run(handle, run ? 1 : 0)
        guard code == SQLITE_OK else { throw database.error(code, sql: nil) }
    }

    /// Whether a statement is on a row. A rollback ends such a statement if the transaction has changed the schema.
    package var isOnRow: Bool {
        var statement = sqlite3_next_stmt(handle, nil)
        while let current = statement {
            if sqlite3_stmt_busy(current) != 0 { return true }
            statement = sqlite3_next_stmt(handle, current)
        }
        return false
    }

    /// How long statements wait for another connection's lock, in milliseconds: `PRAGMA busy_timeout`, which SQLite
    /// parses each time that it is run.
    func busyTimeout() throws -> Int32 {
        if let known = knownBusyTimeout { return known }
        let statement = try statement("PRAGMA busy_timeout")
        defer { statement.reset() }
        let timeout = try statement.step() ? Int32(clamping: statement.integer(at: 0)) : 0
        knownBusyTimeout = timeout
        return timeout
    }

    func setBusyTimeout(_ milliseconds: Int32) {
        knownBusyTimeout = milliseconds
        sqlite3_busy_timeout(handle, milliseconds)
    }

    // MARK: What happened

    /// How many rows the last INSERT, UPDATE or DELETE changed, not counting those of triggers.
    package var changes: Int { Int(sqlite3_changes(handle)) }
}
