import CSQLite

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
