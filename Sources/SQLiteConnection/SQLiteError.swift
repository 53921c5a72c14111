import CSQLite

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

    /// The primary result code, such as `SQLITE_CONSTRAINT` (19): the low byte of the extended one.
    package var code: Int32 { extendedCode & 0xFF }

    /// A row broke a unique index (`SQLITE_CONSTRAINT_UNIQUE`).
    package static let uniqueViolation: Int32 = SQLITE_CONSTRAINT | 8 << 8
    /// A trigger refused a change (`SQLITE_CONSTRAINT_TRIGGER`).
    package static let triggerViolation: Int32 = SQLITE_CONSTRAINT | 7 << 8

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
