import CSQLite

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
