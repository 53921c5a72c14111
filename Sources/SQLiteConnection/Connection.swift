import CPippinSQLite

/// One open SQLite database: prepares statements, keeps them for reuse, runs transactions.
///
/// A connection and its statements are confined to one queue or lock at a time, which the owner must ensure: SQLite's
/// own mutexes are switched off, and nothing here is `Sendable`. All errors are ``SQLiteError``.
package final class Connection {
    /// How the file was opened.
    package let mode: OpenMode
    let database: DatabaseHandle
    private var cache = StatementCache()
    /// The statements that people wrote, apart: they were checked when they were prepared.
    var writtenStatements = StatementCache()
    /// What happens before the commit of changes to some tables; nil for nothing.
    var changeCollector: ChangeCollector?
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
        guard code == SQLITE_OK else {
            let error = database.error(code, sql: sql)
            database.trace?.flush(error: error.message)
            throw error
        }
        database.trace?.flush()
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
        writtenStatements.removeAll()
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

extension Connection {
    /// Overwrites another database with everything in this one, as one change for the other's readers.
    ///
    /// - Parameters:
    ///   - destination: the database to overwrite.
    ///   - whenLocked: called when other connections cannot write to the other database any more, and before anything
    ///     is copied; an error that it throws ends the copying, and leaves the other database unchanged.
    /// - Throws: SQLite's errors, and the errors of `whenLocked`.
    package func copy(to destination: Connection, whenLocked: () throws -> Void = {}) throws {
        guard let backup = sqlite3_backup_init(destination.handle, "main", handle, "main") else {
            throw destination.database.error(sqlite3_errcode(destination.handle), sql: nil)
        }
        var code = step(backup, pages: 0)
        if code == SQLITE_OK {
            do { try whenLocked() } catch {
                sqlite3_backup_finish(backup)
                throw error
            }
            code = step(backup, pages: -1)
        }
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw destination.database.error(code == SQLITE_DONE ? end : code, sql: nil)
        }
    }

    /// Copies pages; zero pages only take the lock.
    private func step(_ backup: OpaquePointer, pages: Int32) -> Int32 {
        // The backup does not apply the busy timeout by itself in every case. Where it does, it has waited enough.
        let end = ContinuousClock.now + .seconds(5)
        var code = sqlite3_backup_step(backup, pages)
        while code == SQLITE_BUSY || code == SQLITE_LOCKED, ContinuousClock.now < end {
            sqlite3_sleep(50)
            code = sqlite3_backup_step(backup, pages)
        }
        return code
    }
}

extension Connection {
    /// The first column of a statement's first row as an integer; nil without a row, or for NULL.
    package func integer(_ sql: String) throws -> Int64? {
        let statement = try prepare(sql)
        guard try statement.step(), !statement.isNull(at: 0) else { return nil }
        return statement.integer(at: 0)
    }

    /// The first column of a statement's first row as a text; nil without a row, or for NULL.
    package func string(_ sql: String) throws -> String? {
        let statement = try prepare(sql)
        guard try statement.step(), !statement.isNull(at: 0) else { return nil }
        return statement.string(at: 0)
    }

    /// Whether the path no longer leads to the opened file: that was moved, removed, or replaced. Anything written then
    /// is lost with the connection.
    package var isMoved: Bool {
        var isMoved: Int32 = 0
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &isMoved)
        return code == SQLITE_OK && isMoved != 0
    }

    /// A number that changes when the connection sees that others have written to the file. It is asked without a
    /// statement, which would end the lock of a copying that has begun.
    package func dataVersion() throws -> UInt32 {
        var version: UInt32 = 0
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        guard code == SQLITE_OK else { throw database.error(code, sql: nil) }
        return version
    }

    /// The names of the tables in the file.
    package func tableNames() throws -> Set<String> {
        let statement = try prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
        var names = Set<String>()
        while try statement.step() { names.insert(statement.string(at: 0)) }
        return names
    }

    /// The names of a table's columns, in the table's order; empty if there is no such table.
    package func columnNames(ofTable table: String) throws -> [String] {
        let statement = try prepare("SELECT name FROM pragma_table_info(?)")
        try statement.bind(table, at: 1)
        var names: [String] = []
        while try statement.step() { names.append(statement.string(at: 0)) }
        return names
    }
}

extension Connection {
    /// Ends the statements that are running on the connection, from whatever thread: they throw `SQLITE_INTERRUPT`.
    package var interrupter: @Sendable () -> Void {
        let open = OpenHandle(database: database)
        return { sqlite3_interrupt(open.database.pointer) }
    }
}

/// Keeps a handle open as long as statements may be ended by it.
private struct OpenHandle: @unchecked Sendable {
    // @unchecked Sendable: `sqlite3_interrupt` may be called from any thread while the handle is open.
    let database: DatabaseHandle
}
