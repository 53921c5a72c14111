import CSQLite

/// SQLite's own handle of an open file, closed when the connection and the last of its statements are gone.
final class DatabaseHandle {
    let pointer: OpaquePointer
    let path: String
    private let file: OpenFiles.Identity?
    /// Is called by SQLite until the handle is closed.
    var trace: StatementTrace?

    init(path: String, mode: OpenMode) throws {
        var pointer: OpaquePointer?
        let mode = mode.effective
        if mode == .traceless, TracelessFiles.registration != SQLITE_OK {
            throw SQLiteError(
                extendedCode: TracelessFiles.registration, message: "files cannot be read without a trace", path: path)
        }
        let code = sqlite3_open_v2(mode.filename(for: path), &pointer, mode.flags, mode.files)
        guard code == SQLITE_OK, let pointer else {
            let message = pointer.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
            let extended = pointer.map { sqlite3_extended_errcode($0) } ?? code
            sqlite3_close_v2(pointer)
            throw SQLiteError(extendedCode: extended, message: message, path: path)
        }
        self.pointer = pointer
        self.path = path
        file = mode == .memory ? nil : OpenFiles.Identity(path)
        if let file { OpenFiles.open(file) }
        sqlite3_extended_result_codes(pointer, 1)
        MemoryLimits.apply(to: pointer)
    }

    deinit {
        sqlite3_close_v2(pointer)
        if let file { OpenFiles.close(file) }
    }

    /// The error that SQLite reports for a result code of this connection.
    func error(_ code: Int32, sql: String?) -> SQLiteError {
        if let message = MemoryLimits.message(of: code) {
            return SQLiteError(extendedCode: code, message: message, sql: sql, path: path)
        }
        let extended = sqlite3_extended_errcode(pointer)
        let isLatest = extended & 0xFF == code & 0xFF
        let message = isLatest ? String(cString: sqlite3_errmsg(pointer)) : String(cString: sqlite3_errstr(code))
        return SQLiteError(extendedCode: isLatest ? extended : code, message: message, sql: sql, path: path)
    }
}
