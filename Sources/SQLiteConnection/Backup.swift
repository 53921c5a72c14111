import CSQLite

extension Connection {
    /// Copies everything in this database over what is in another, as one change for the other's readers.
    package func copy(to destination: Connection) throws {
        guard let backup = sqlite3_backup_init(destination.handle, "main", handle, "main") else {
            throw destination.database.error(sqlite3_errcode(destination.handle), sql: nil)
        }
        var code = sqlite3_backup_step(backup, -1)
        var attempts = 0
        // The backup does not use the busy timeout by itself in every case.
        while code == SQLITE_BUSY || code == SQLITE_LOCKED, attempts < 100 {
            sqlite3_sleep(50)
            attempts += 1
            code = sqlite3_backup_step(backup, -1)
        }
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw destination.database.error(code == SQLITE_DONE ? end : code, sql: nil)
        }
    }
}
