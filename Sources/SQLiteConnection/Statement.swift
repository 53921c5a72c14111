import CSQLite

/// A prepared statement: bind its parameters, step through its rows, reset it.
///
/// Parameters and columns are given by index: parameters from 1, columns from 0, as in SQLite. ``reset()`` clears the
/// bindings, so every run binds all of its parameters. Like its ``Connection``, a statement belongs to one queue or
/// lock.
package final class Statement {
    /// The SQL text it was prepared from.
    package let sql: String
    @usableFromInline
    let handle: OpaquePointer
    let database: DatabaseHandle
    /// Memory for short texts until the reset, so that SQLite need not copy each of them.
    @usableFromInline
    var scratch: UnsafeMutableRawBufferPointer
    @usableFromInline
    var scratchUsed = 0

    init(sql: String, database: DatabaseHandle, isPersistent: Bool) throws {
        var handle: OpaquePointer?
        let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        var text = sql
        var hasTail = false
        let code = text.withUTF8 { utf8 -> Int32 in
            utf8.withMemoryRebound(to: CChar.self) { characters in
                var tail: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v3(
                    database.pointer, characters.baseAddress, Int32(characters.count), flags, &handle, &tail)
                if let tail, let start = characters.baseAddress {
                    hasTail = characters[(tail - start)...].contains { !Statement.isBlank($0) }
                }
                return code
            }
        }
        guard code == SQLITE_OK else { throw database.error(code, sql: sql) }
        guard let handle else {
            throw SQLiteError(
                extendedCode: SQLITE_MISUSE, message: "no statement in the text", sql: sql, path: database.path)
        }
        guard !hasTail else {
            sqlite3_finalize(handle)
            throw SQLiteError(
                extendedCode: SQLITE_MISUSE, message: "more than one statement in the text", sql: sql,
                path: database.path)
        }
        self.sql = sql
        self.database = database
        self.handle = handle
        self.scratch = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    deinit {
        sqlite3_finalize(handle)
        scratch.deallocate()
    }

    /// Goes to the next row.
    ///
    /// - Returns: false if there are no more rows.
    @inlinable
    package func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code)
    }

    /// Runs a statement, ignoring its rows, and resets it.
    @inlinable
    package func run() throws {
        var code = sqlite3_step(handle)
        // A trigger's SELECT returns no rows here, but a pragma may return one.
        while code == SQLITE_ROW { code = sqlite3_step(handle) }
        if code != SQLITE_DONE { throw failure(code) }
        reset()
    }

    /// Makes the statement ready to run again, without bindings.
    @inlinable
    package func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        scratchUsed = 0
    }

    /// Whether the statement is on a row, so that another reader must not use it.
    package var isBusy: Bool { sqlite3_stmt_busy(handle) != 0 }

    /// The error of a failed step; the statement is reset, so that it holds no lock.
    @usableFromInline
    func failure(_ code: Int32) -> SQLiteError {
        let error = database.error(code, sql: sql)
        reset()
        return error
    }

    private static func isBlank(_ character: CChar) -> Bool {
        switch UInt8(bitPattern: character) {
        case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: ";"), 0:
            return true
        default: return false
        }
    }
}
