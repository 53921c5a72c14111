import CSQLiteBaseline
import Foundation

/// How the C API's side opens a file.
enum BaselineKind: String {
    /// As `sqlite3_open` does: with a mutex for each call, and 2 MB of pages in memory.
    case serialized
    /// Without mutexes, as Pippin does.
    case nomutex
    /// With 16 MB of pages in memory, as Pippin has while it writes much.
    case pages
}

/// The SQLite C API as one would use it by hand: statements prepared once, one transaction, columns by index.
final class Baseline {
    private let handle: OpaquePointer

    /// What the command line asks for.
    private static let kind = (try? Options(Array(CommandLine.arguments.dropFirst())))?.baseline ?? .serialized

    init(path: URL) throws {
        var opened: OpaquePointer?
        let mutexes = Self.kind == .nomutex ? SQLITE_OPEN_NOMUTEX : 0
        let code = sqlite3_open_v2(path.path, &opened, SQLITE_OPEN_READWRITE | mutexes, nil)
        guard code == SQLITE_OK, let opened else {
            throw BaselineError(message: "cannot open \(path.path): \(code)")
        }
        handle = opened
        // What the Core Data side runs with.
        try execute("PRAGMA journal_mode = WAL")
        try execute("PRAGMA synchronous = NORMAL")
        // The most that Pippin gives it.
        if Self.kind == .pages { try execute("PRAGMA cache_size = -16000") }
    }

    deinit { sqlite3_close_v2(handle) }

    // MARK: The work

    func insert(_ samples: [Sample]) throws {
        let statement = try prepare(
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZUID, ZTITLE, ZCOUNT, ZPRICE, ZCREATEDAT, ZISFLAGGED)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        defer { sqlite3_finalize(statement) }
        try execute("BEGIN IMMEDIATE")
        for (index, sample) in samples.enumerated() {
            sqlite3_bind_int64(statement, 1, Int64(index + 1))
            sqlite3_bind_int64(statement, 2, 1)
            sqlite3_bind_int64(statement, 3, 1)
            bind(sample.uid, to: statement, at: 4)
            bind(sample.title, to: statement, at: 5)
            sqlite3_bind_int64(statement, 6, sample.count)
            sqlite3_bind_double(statement, 7, sample.price)
            sqlite3_bind_double(statement, 8, sample.createdAt.timeIntervalSinceReferenceDate)
            sqlite3_bind_int64(statement, 9, sample.isFlagged ? 1 : 0)
            try finish(statement)
        }
        try execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(samples.count) WHERE Z_NAME = 'Item'")
        try execute("COMMIT")
    }

    /// A transaction each, begun and ended by prepared statements.
    func insertEach(_ samples: [Sample]) throws {
        let insertion = try prepare(
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZUID, ZTITLE, ZCOUNT, ZPRICE, ZCREATEDAT, ZISFLAGGED)
            VALUES (?, 1, 1, ?, ?, ?, ?, ?, ?)
            """)
        let key = try prepare("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = 'Item'")
        let (begin, commit) = (try prepare("BEGIN IMMEDIATE"), try prepare("COMMIT"))
        defer { for statement in [insertion, key, begin, commit] { sqlite3_finalize(statement) } }
        for (index, sample) in samples.enumerated() {
            try finish(begin)
            sqlite3_bind_int64(key, 1, Int64(index + 1))
            try finish(key)
            sqlite3_bind_int64(insertion, 1, Int64(index + 1))
            bind(sample.uid, to: insertion, at: 2)
            bind(sample.title, to: insertion, at: 3)
            sqlite3_bind_int64(insertion, 4, sample.count)
            sqlite3_bind_double(insertion, 5, sample.price)
            sqlite3_bind_double(insertion, 6, sample.createdAt.timeIntervalSinceReferenceDate)
            sqlite3_bind_int64(insertion, 7, sample.isFlagged ? 1 : 0)
            try finish(insertion)
            try finish(commit)
        }
    }

    /// The same change as `changeAll`, a transaction each.
    func changeEach(_ samples: [Sample]) throws {
        let change = try prepare("UPDATE ZITEM SET Z_OPT = ?, ZCOUNT = ? WHERE Z_PK = ? AND Z_OPT = ?")
        let (begin, commit) = (try prepare("BEGIN IMMEDIATE"), try prepare("COMMIT"))
        defer { for statement in [change, begin, commit] { sqlite3_finalize(statement) } }
        for (index, sample) in samples.enumerated() {
            try finish(begin)
            sqlite3_bind_int64(change, 1, 2)
            sqlite3_bind_int64(change, 2, sample.count + 1)
            sqlite3_bind_int64(change, 3, Int64(index + 1))
            sqlite3_bind_int64(change, 4, 1)
            try finish(change)
            try finish(commit)
        }
    }

    /// Copies every row into memory, as a fetch does, then reads all of them.
    func fetchAll() throws -> Checksum {
        let statement = try prepare("SELECT \(Self.columns) FROM ZITEM")
        defer { sqlite3_finalize(statement) }
        var records: [Record] = []
        while try step(statement) { records.append(Record(statement)) }
        var checksum = Checksum()
        for record in records {
            record.add(to: &checksum)
            record.free()
        }
        return checksum
    }

    func fetch(keys: [String]) throws -> Checksum {
        let statement = try prepare("SELECT \(Self.columns) FROM ZITEM WHERE ZUID = ?")
        defer { sqlite3_finalize(statement) }
        var checksum = Checksum()
        for key in keys {
            bind(key, to: statement, at: 1)
            while try step(statement) {
                let record = Record(statement)
                record.add(to: &checksum)
                record.free()
            }
            sqlite3_reset(statement)
        }
        return checksum
    }

    /// Adds one to an attribute of every row, row by row, guarded by the version as optimistic locking wants it.
    func changeAll(_ samples: [Sample]) throws {
        let statement = try prepare("UPDATE ZITEM SET Z_OPT = ?, ZCOUNT = ? WHERE Z_PK = ? AND Z_OPT = ?")
        defer { sqlite3_finalize(statement) }
        try execute("BEGIN IMMEDIATE")
        for (index, sample) in samples.enumerated() {
            sqlite3_bind_int64(statement, 1, 2)
            sqlite3_bind_int64(statement, 2, sample.count + 1)
            sqlite3_bind_int64(statement, 3, Int64(index + 1))
            sqlite3_bind_int64(statement, 4, 1)
            try finish(statement)
        }
        try execute("COMMIT")
    }

    /// Number of rows, sum of an attribute and of the versions: what a save must have left behind.
    func summary() throws -> [Int64] {
        let statement = try prepare("SELECT count(*), sum(ZCOUNT), sum(Z_OPT), max(Z_PK) FROM ZITEM")
        defer { sqlite3_finalize(statement) }
        _ = try step(statement)
        return (0..<4).map { sqlite3_column_int64(statement, $0) }
    }

    /// Moves everything from the log into the file, so that the file alone can be copied.
    func checkpoint() throws { try execute("PRAGMA wal_checkpoint(TRUNCATE)") }

    // MARK: The C API

    private static let columns = "Z_PK, Z_OPT, ZUID, ZTITLE, ZCOUNT, ZPRICE, ZCREATEDAT, ZISFLAGGED"

    func prepare(_ sql: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else { throw failure() }
        return statement
    }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    func step(_ statement: OpaquePointer) throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        default: throw failure()
        }
    }

    func finish(_ statement: OpaquePointer) throws {
        guard sqlite3_step(statement) == SQLITE_DONE else { throw failure() }
        sqlite3_reset(statement)
    }

    func bind(_ text: String, to statement: OpaquePointer, at index: Int32) {
        // SQLITE_TRANSIENT, a cast that Swift does not import: SQLite copies the bytes.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        var text = text
        _ = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                sqlite3_bind_text(statement, index, characters.baseAddress, Int32(characters.count), transient)
            }
        }
    }

    private func failure() -> BaselineError {
        BaselineError(message: String(cString: sqlite3_errmsg(handle)))
    }
}

/// A row as a C program would keep it: plain values, and its own copies of the strings.
private struct Record {
    let key: Int64, version: Int64
    let uid: UnsafeMutableRawPointer?, uidBytes: Int
    let title: UnsafeMutableRawPointer?, titleBytes: Int
    let count: Int64, price: Double, createdAt: Double, isFlagged: Bool

    init(_ statement: OpaquePointer) {
        key = sqlite3_column_int64(statement, 0)
        version = sqlite3_column_int64(statement, 1)
        (uid, uidBytes) = copiedText(statement, 2)
        (title, titleBytes) = copiedText(statement, 3)
        count = sqlite3_column_int64(statement, 4)
        price = sqlite3_column_double(statement, 5)
        createdAt = sqlite3_column_double(statement, 6)
        isFlagged = sqlite3_column_int64(statement, 7) != 0
    }

    func add(to checksum: inout Checksum) {
        checksum.add(
            uidBytes: uidBytes, titleBytes: titleBytes, count: count, price: price, createdAt: createdAt,
            isFlagged: isFlagged)
    }

    func free() {
        Foundation.free(uid)
        Foundation.free(title)
    }
}

/// A column's text, which has to be freed, and the number of its bytes.
func copiedText(_ statement: OpaquePointer, _ column: Int32) -> (UnsafeMutableRawPointer?, Int) {
    guard let text = sqlite3_column_text(statement, column) else { return (nil, 0) }
    let bytes = Int(sqlite3_column_bytes(statement, column))
    let copied = malloc(bytes + 1)
    copied?.copyMemory(from: text, byteCount: bytes + 1)
    return (copied, bytes)
}

struct BaselineError: Error, CustomStringConvertible {
    let message: String
    var description: String { "SQLite: \(message)" }
}
