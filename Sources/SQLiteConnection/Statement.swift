import CPippinSQLite
import Foundation

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
    @usableFromInline
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
        guard code == SQLITE_OK else {
            let error = database.error(code, sql: sql)
            database.trace?.refused(sql, error.message)
            throw error
        }
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
        database.trace?.flush()
    }

    /// Goes to the next row.
    ///
    /// - Returns: false if there are no more rows.
    @inlinable
    package func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE {
            database.trace?.flush()
            return false
        }
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
        database.trace?.flush()
    }

    /// Whether the statement is on a row, so that another reader must not use it.
    package var isBusy: Bool { sqlite3_stmt_busy(handle) != 0 }

    /// The error of a failed step; the statement is reset, so that it holds no lock.
    @usableFromInline
    func failure(_ code: Int32) -> SQLiteError {
        let error = database.error(code, sql: sql)
        database.trace?.flush(error: error.message)
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

/// Prepared statements by their SQL text, up to a limit; the oldest ones are dropped first.
struct StatementCache {
    private let limit = 256
    private var statements: [String: Statement] = [:]
    private var order: [String] = []

    subscript(sql: String) -> Statement? { statements[sql] }

    mutating func insert(_ statement: Statement, for sql: String) {
        if order.count >= limit {
            // A quarter at once, so that the array is rarely shifted.
            for old in order.prefix(limit / 4) { statements[old] = nil }
            order.removeFirst(limit / 4)
        }
        if statements.updateValue(statement, forKey: sql) == nil { order.append(sql) }
    }

    mutating func removeAll() {
        statements.removeAll()
        order.removeAll()
    }
}

/// An error that SQLite reports for a failed call: the codes, SQLite's own message, the statement and the file.
package struct SQLiteError: Error, Equatable, CustomStringConvertible {
    /// SQLite's extended result code, such as `SQLITE_CONSTRAINT_UNIQUE` (2067).
    package let extendedCode: Int32
    /// SQLite's own sentence, such as "UNIQUE constraint failed: ZCAR.ZNUMBERPLATE".
    package let message: String
    /// The statement that failed; nil if there was none, as in opening a file.
    package let sql: String?
    /// The path of the database file.
    package let path: String
    /// The byte of the statement at which SQLite found the error; nil if unknown.
    package var position: Int?

    /// The primary result code, such as `SQLITE_CONSTRAINT` (19): the low byte of the extended one.
    package var code: Int32 { extendedCode & 0xFF }

    /// A row broke a unique index (`SQLITE_CONSTRAINT_UNIQUE`).
    package static let uniqueViolation: Int32 = SQLITE_CONSTRAINT | 8 << 8
    /// A trigger refused a change (`SQLITE_CONSTRAINT_TRIGGER`).
    package static let triggerViolation: Int32 = SQLITE_CONSTRAINT | 7 << 8

    /// A text has no statement, or more than one (`SQLITE_MISUSE`).
    package static let misuse: Int32 = SQLITE_MISUSE

    /// A value is too long (`SQLITE_TOOBIG`).
    package static let tooLarge: Int32 = SQLITE_TOOBIG

    package init(extendedCode: Int32, message: String, sql: String? = nil, path: String) {
        self.extendedCode = extendedCode
        self.message = message
        self.sql = sql
        self.path = path
    }

    package var description: String {
        let statement = sql.map { " in \"\($0)\"" } ?? ""
        return "SQLite error \(extendedCode): \(message)\(statement) (\(path))"
    }

    /// Another connection holds a lock, and the busy timeout has passed.
    package var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

    /// A row broke a unique index, a primary key or another constraint.
    package var isConstraint: Bool { code == SQLITE_CONSTRAINT }

    /// A row has the key, or the unique values, of another one.
    package var isDuplicate: Bool {
        [Self.uniqueViolation, SQLITE_CONSTRAINT | 6 << 8, SQLITE_CONSTRAINT | 10 << 8].contains(extendedCode)
    }

    /// A row broke a unique index.
    package var isUniqueViolation: Bool { extendedCode == Self.uniqueViolation }

    /// The operating system could not read or write the file.
    package var isInputOutput: Bool { code == SQLITE_IOERR }

    /// The statement is wrong, as one that names a column that there is not.
    package var isInStatement: Bool { code == SQLITE_ERROR }

    /// The file is damaged, or not a database.
    package var isCorrupt: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

    /// The file is not a database.
    package var isNoDatabase: Bool { code == SQLITE_NOTADB }

    /// The disk, or the limit set for the file, is full.
    package var isFull: Bool { code == SQLITE_FULL }

    /// The file, its folder or the connection does not allow writing.
    package var isReadOnly: Bool { code == SQLITE_READONLY || code == SQLITE_PERM || code == SQLITE_AUTH }

    /// The file does not exist or cannot be opened.
    package var isCannotOpen: Bool { code == SQLITE_CANTOPEN }
}

/// The five kinds of values that SQLite stores.
package enum ColumnKind: Sendable {
    case integer, double, text, blob, null
}

extension Statement {
    /// How many columns a row has.
    package var columnCount: Int { Int(sqlite3_column_count(handle)) }

    /// A column's name.
    package func columnName(at index: Int32) -> String {
        sqlite3_column_name(handle, index).map { String(cString: $0) } ?? ""
    }

    /// The type of the value in a column of the current row.
    @inlinable
    package func kind(at index: Int32) -> ColumnKind {
        switch sqlite3_column_type(handle, index) {
        case SQLITE_INTEGER: return .integer
        case SQLITE_FLOAT: return .double
        case SQLITE_TEXT: return .text
        case SQLITE_BLOB: return .blob
        default: return .null
        }
    }

    /// Whether a column of the current row is NULL.
    @inlinable
    package func isNull(at index: Int32) -> Bool { sqlite3_column_type(handle, index) == SQLITE_NULL }

    /// A column of the current row as an integer, converted by SQLite's rules; 0 for NULL.
    @inlinable
    package func integer(at index: Int32) -> Int64 { sqlite3_column_int64(handle, index) }

    /// A column of the current row as a floating-point number, converted by SQLite's rules; 0 for NULL.
    @inlinable
    package func double(at index: Int32) -> Double { sqlite3_column_double(handle, index) }

    /// A column of the current row as a text, built once from its UTF-8 bytes; empty for NULL. Bytes that are not UTF-8
    /// become U+FFFD.
    @inlinable
    package func string(at index: Int32) -> String {
        guard let bytes = sqlite3_column_text(handle, index) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, index))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// How many bytes the text or the blob in a column of the current row has; those of a text in UTF-8.
    package func byteCount(at index: Int32) -> Int { Int(sqlite3_column_bytes(handle, index)) }

    /// Whether a column of the current row is a text with the same bytes.
    package func isText(_ text: String, at index: Int32) -> Bool {
        guard let bytes = sqlite3_column_text(handle, index) else { return false }
        let count = Int(sqlite3_column_bytes(handle, index))
        let isSame = { (utf8: UnsafeBufferPointer<UInt8>) in
            guard utf8.count == count, let start = utf8.baseAddress else { return count == 0 && utf8.isEmpty }
            return memcmp(start, bytes, count) == 0
        }
        // Most texts are contiguous in memory; others are copied.
        if let known = text.utf8.withContiguousStorageIfAvailable(isSame) { return known }
        var copy = text
        return copy.withUTF8(isSame)
    }

    /// A column of the current row as a text; nil for NULL.
    @inlinable
    package func optionalString(at index: Int32) -> String? {
        guard let bytes = sqlite3_column_text(handle, index) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, index))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// A column of the current row as bytes; empty for NULL.
    package func data(at index: Int32) -> Data {
        guard let bytes = sqlite3_column_blob(handle, index) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(handle, index)))
    }

    /// A column of the current row as a UUID; nil unless it is a blob of 16 bytes.
    package func uuid(at index: Int32) -> UUID? {
        guard let bytes = sqlite3_column_blob(handle, index), sqlite3_column_bytes(handle, index) == 16 else {
            return nil
        }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}
