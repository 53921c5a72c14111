import CPippinSQLite
import Foundation
import Synchronization

/// SQLite's own handle of an open file, closed when the connection and the last of its statements are gone.
@usableFromInline
final class DatabaseHandle {
    let pointer: OpaquePointer
    let path: String
    private let file: OpenFiles.Identity?
    /// Is called by SQLite until the handle is closed.
    @usableFromInline
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
        var error = SQLiteError(extendedCode: isLatest ? extended : code, message: message, sql: sql, path: path)
        if isLatest, sql != nil, code & 0xFF == SQLITE_ERROR {
            let offset = csqlite_error_offset(pointer)
            error.position = offset < 0 ? nil : Int(offset)
        }
        return error
    }
}

/// A statement that a connection has run.
package struct TracedStatement {
    /// The text, with the values in the place of the parameters if these are to be shown.
    package let sql: String
    /// How long it took, as far as SQLite measures it: in milliseconds.
    package let seconds: Double
    /// How many rows it gave.
    package let rows: Int
    /// SQLite's sentence if it failed.
    package let error: String?
}

/// Hears of each statement that a connection has run.
@usableFromInline
final class StatementTrace {
    private let showsValues: Bool
    private let report: (TracedStatement) -> Void
    /// How many rows statements have given that are under way.
    private var rows: [OpaquePointer: Int] = [:]
    /// What SQLite has said to be at an end. Whether it failed is known a moment later.
    private var ended: [(sql: String, seconds: Double, rows: Int)] = []

    init(showsValues: Bool, report: @escaping (TracedStatement) -> Void) {
        (self.showsValues, self.report) = (showsValues, report)
    }

    fileprivate func gave(_ statement: OpaquePointer) { rows[statement, default: 0] += 1 }

    /// Reports what is at an end.
    ///
    /// - Parameter error: why the last of these statements failed; nil if it did not.
    @usableFromInline
    func flush(error: String? = nil) {
        guard !ended.isEmpty else { return }
        let all = ended
        ended = []
        for (index, statement) in all.enumerated() {
            report(
                TracedStatement(
                    sql: statement.sql, seconds: statement.seconds, rows: statement.rows,
                    error: index == all.count - 1 ? error : nil))
        }
    }

    /// Reports a statement that cannot be run.
    func refused(_ sql: String, _ error: String) {
        report(TracedStatement(sql: sql, seconds: 0, rows: 0, error: error))
    }

    fileprivate func took(_ statement: OpaquePointer, seconds: Double) {
        let rows = rows.removeValue(forKey: statement) ?? 0
        if showsValues, let text = sqlite3_expanded_sql(statement) {
            ended.append((String(cString: text), seconds, rows))
            sqlite3_free(text)
        } else if let text = sqlite3_sql(statement) {
            ended.append((String(cString: text), seconds, rows))
        }
    }
}

extension Connection {
    /// Has each statement reported once it has run.
    ///
    /// - Parameters:
    ///   - showsValues: whether the statements' values are in the text, in the place of their parameters.
    ///   - report: takes a statement. It must not use the connection.
    package func traceStatements(showsValues: Bool, _ report: @escaping (TracedStatement) -> Void) {
        let trace = StatementTrace(showsValues: showsValues, report: report)
        database.trace = trace
        sqlite3_trace_v2(
            handle, UInt32(SQLITE_TRACE_PROFILE | SQLITE_TRACE_ROW),
            { event, context, statement, nanoseconds in
                guard let context, let statement else { return 0 }
                let trace = Unmanaged<StatementTrace>.fromOpaque(context).takeUnretainedValue()
                guard event == UInt32(SQLITE_TRACE_PROFILE), let nanoseconds else {
                    trace.gave(OpaquePointer(statement))
                    return 0
                }
                trace.took(
                    OpaquePointer(statement),
                    seconds: Double(nanoseconds.assumingMemoryBound(to: Int64.self).pointee) / 1_000_000_000)
                return 0
            }, Unmanaged.passUnretained(trace).toOpaque())
    }
}

/// How much memory SQLite may take, for programs that read stores of unknown origin.
package enum MemoryLimits {
    /// The most bytes that a value, a row or a statement's text may have; 0 for SQLite's own limit.
    private static let value = Atomic<Int32>(0)
    /// The most bytes that all connections of the process take together; 0 for any number.
    private static let heap = Atomic<Int64>(0)

    /// Sets the limits for the process. To be called before a connection is opened. Beyond them statements fail, and
    /// the errors name the limit.
    ///
    /// - Parameters:
    ///   - value: the most bytes of a value.
    ///   - heap: the most bytes of everything together.
    package static func set(value: Int32, heap: Int64) {
        self.value.store(value, ordering: .relaxed)
        self.heap.store(heap, ordering: .relaxed)
        sqlite3_hard_heap_limit64(heap)
    }

    static func apply(to handle: OpaquePointer) {
        let value = value.load(ordering: .relaxed)
        if value > 0 { sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, value) }
    }

    /// What an error says of a limit; nil for other errors, and without limits.
    static func message(of code: Int32) -> String? {
        let (value, heap) = (value.load(ordering: .relaxed), heap.load(ordering: .relaxed))
        switch code & 0xFF {
        case SQLITE_TOOBIG where value > 0:
            return "a value is longer than the \(value / 1_000_000) MB that one may have here"
        case SQLITE_NOMEM where heap > 0:
            return "a statement takes more than the \(heap / 1_000_000) MB of memory that it may take here"
        default: return nil
        }
    }
}

/// The database files that this process has open.
///
/// Only SQLite may open and close one of them: when a process closes a file, the system releases all its locks on that
/// file, no matter through which descriptor, and another program that closes the store would then remove the log that
/// this one writes to.
package enum OpenFiles {
    private static let counts = Mutex<[Identity: Int]>([:])

    /// The identity of a file, by whatever path.
    package struct Identity: Hashable, Sendable {
        let device: UInt64
        let node: UInt64

        /// - Returns: nil for a file that does not exist.
        package init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            (device, node) = (UInt64(facts.st_dev), UInt64(facts.st_ino))
        }
    }

    /// Whether a connection of this process has a file open.
    package static func contains(_ path: String) -> Bool {
        guard let identity = Identity(path) else { return false }
        return counts.withLock { $0[identity] != nil }
    }

    static func open(_ identity: Identity) { counts.withLock { $0[identity, default: 0] += 1 } }

    static func close(_ identity: Identity) {
        counts.withLock { counts in
            let left = (counts[identity] ?? 0) - 1
            counts[identity] = left > 0 ? left : nil
        }
    }
}

/// How a connection opens its file.
package enum OpenMode: Sendable {
    /// Reads only. SQLite still takes locks, and sees what is in the write-ahead log.
    case readOnly
    /// Reads and writes a file that must exist.
    case readWrite
    /// Reads and writes, creating the file if there is none.
    case create
    /// Reads only, with what is in the write-ahead log, and changes nothing: neither the file nor what is beside it. It
    /// fails as busy if a program comes and writes while it reads; see ``TracelessFiles``.
    case traceless
    /// Reads a file alone, that does not change meanwhile, and ignores its write-ahead log.
    case immutable
    /// A database in memory, which ends with the connection. The path only names it in errors.
    case memory

    /// Whether nothing can be written.
    package var onlyReads: Bool {
        switch self {
        case .readOnly, .traceless, .immutable: true
        case .readWrite, .create, .memory: false
        }
    }

    private static let leavesTraces = Atomic<Bool>(true)

    /// Has all connections of this process that only read leave no trace, as programs promise that look into stores. To
    /// be called before one is opened.
    package static func readWithoutTrace() { leavesTraces.store(false, ordering: .relaxed) }

    /// Whether connections that only read leave no trace.
    package static var readsWithoutTrace: Bool { !leavesTraces.load(ordering: .relaxed) }

    /// The mode that a connection gets for this one.
    var effective: OpenMode { self == .readOnly && Self.readsWithoutTrace ? .traceless : self }

    /// The name of SQLite's files that are used; nil for the system's.
    var files: String? { self == .traceless ? TracelessFiles.name : nil }

    var flags: Int32 {
        // One connection is used by one queue at a time, so SQLite's own mutexes are not needed.
        let common = SQLITE_OPEN_NOMUTEX
        switch self {
        case .readOnly: return common | SQLITE_OPEN_READONLY
        case .readWrite: return common | SQLITE_OPEN_READWRITE
        case .create, .memory: return common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .traceless, .immutable: return common | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        }
    }

    /// The file name for SQLite: the path, or a `file:` URI if the mode needs a parameter.
    func filename(for path: String) -> String {
        let parameter: String
        switch self {
        case .memory: return ":memory:"
        case .readOnly, .readWrite, .create: return path
        case .immutable: parameter = "immutable=1"
        case .traceless: parameter = "readonly_shm=1"
        }
        var uri = "file:"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                uri += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return "\(uri)?\(parameter)"
    }
}
