import CSQLiteBaseline
import Foundation

/// How a program by hand opens a file.
package enum HandKind: Sendable {
    /// As `sqlite3_open` does: a mutex for each call, 2 MB of pages in memory.
    case usual
    /// Without mutexes, with 16 MB of pages in memory, which is the most that Pippin has.
    case best
}

/// A row's columns by place: what a program by hand reads, from SQLite's C API or from GRDB's rows.
protocol RowReader {
    func isNull(_ column: Int) -> Bool
    func integer(_ column: Int) -> Int64
    func double(_ column: Int) -> Double
    func text(_ column: Int) -> String
    func data(_ column: Int) -> Data
    func uuid(_ column: Int) -> UUID
}

extension RowReader {
    @inline(__always) func int(_ column: Int) -> Int { Int(integer(column)) }
    @inline(__always) func date(_ column: Int) -> Date { Date(timeIntervalSinceReferenceDate: double(column)) }
    @inline(__always) func bool(_ column: Int) -> Bool { integer(column) != 0 }
    @inline(__always) func optionalInt(_ column: Int) -> Int? { isNull(column) ? nil : int(column) }
    @inline(__always) func optionalDouble(_ column: Int) -> Double? { isNull(column) ? nil : double(column) }
    @inline(__always) func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
    @inline(__always) func optionalDate(_ column: Int) -> Date? { isNull(column) ? nil : date(column) }
    @inline(__always) func optionalBool(_ column: Int) -> Bool? { isNull(column) ? nil : bool(column) }
}

/// Takes the values of a row one after the other.
protocol ColumnWriter {
    mutating func null()
    mutating func integer(_ value: Int64)
    mutating func double(_ value: Double)
    mutating func text(_ value: String)
    mutating func data(_ value: Data)
    mutating func uuid(_ value: UUID)
}

extension ColumnWriter {
    @inline(__always) mutating func int(_ value: Int?) { if let value { integer(Int64(value)) } else { null() } }
    @inline(__always) mutating func bool(_ value: Bool?) { if let value { integer(value ? 1 : 0) } else { null() } }
    @inline(__always) mutating func real(_ value: Double?) { if let value { double(value) } else { null() } }
    @inline(__always) mutating func string(_ value: String?) { if let value { text(value) } else { null() } }
    @inline(__always) mutating func date(_ value: Date?) { real(value?.timeIntervalSinceReferenceDate) }
}

/// A statement of the C API, as both.
struct HandStatement: RowReader, ColumnWriter {
    let handle: OpaquePointer
    private var bound: Int32 = 0

    init(_ handle: OpaquePointer) { self.handle = handle }

    // MARK: Reading

    @inline(__always) func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }
    @inline(__always) func integer(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }
    @inline(__always) func double(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }

    @inline(__always) func text(_ column: Int) -> String {
        guard let bytes = sqlite3_column_text(handle, Int32(column)) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    @inline(__always) func data(_ column: Int) -> Data {
        guard let bytes = sqlite3_column_blob(handle, Int32(column)) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(handle, Int32(column))))
    }

    @inline(__always) func uuid(_ column: Int) -> UUID {
        guard let bytes = sqlite3_column_blob(handle, Int32(column)) else { return UUID() }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    // MARK: Binding

    @inline(__always) mutating func null() {
        bound += 1
        sqlite3_bind_null(handle, bound)
    }
    @inline(__always) mutating func integer(_ value: Int64) {
        bound += 1
        sqlite3_bind_int64(handle, bound, value)
    }
    @inline(__always) mutating func double(_ value: Double) {
        bound += 1
        sqlite3_bind_double(handle, bound, value)
    }
    @inline(__always) mutating func text(_ value: String) {
        bound += 1
        var value = value
        value.withUTF8 {
            _ = sqlite3_bind_text(
                handle, bound, UnsafeRawPointer($0.baseAddress)?.assumingMemoryBound(to: CChar.self), Int32($0.count),
                Self.transient)
        }
    }
    @inline(__always) mutating func data(_ value: Data) {
        bound += 1
        value.withUnsafeBytes {
            _ = sqlite3_bind_blob(handle, bound, $0.baseAddress, Int32($0.count), Self.transient)
        }
    }
    @inline(__always) mutating func uuid(_ value: UUID) {
        bound += 1
        withUnsafeBytes(of: value.uuid) {
            _ = sqlite3_bind_blob(handle, bound, $0.baseAddress, Int32($0.count), Self.transient)
        }
    }

    // SQLite's own constant: the value is copied.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    // MARK: Running

    /// The next row, or none.
    @inline(__always) func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else { throw HandError(message: "\(code)") }
        return false
    }

    /// Runs a statement that has no rows, and makes it ready for the next values.
    @inline(__always) mutating func run() throws {
        _ = try step()
        reset()
    }

    @inline(__always) mutating func reset() {
        sqlite3_reset(handle)
        bound = 0
    }
}

/// A file, opened by hand, with its statements kept.
final class HandDatabase {
    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    init(_ file: URL, _ kind: HandKind) throws {
        var opened: OpaquePointer?
        let mutexes = kind == .best ? SQLITE_OPEN_NOMUTEX : 0
        guard sqlite3_open_v2(file.path, &opened, SQLITE_OPEN_READWRITE | mutexes, nil) == SQLITE_OK, let opened
        else { throw HandError(message: "cannot open \(file.path)") }
        handle = opened
        try execute("PRAGMA journal_mode = WAL")
        try execute("PRAGMA synchronous = NORMAL")
        if kind == .best { try execute("PRAGMA cache_size = -16000") }
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw HandError(message: "\(String(cString: sqlite3_errmsg(handle))): \(sql)")
        }
    }

    func statement(_ sql: String) throws -> HandStatement {
        if let known = statements[sql] { return HandStatement(known) }
        var made: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &made, nil) == SQLITE_OK, let made else {
            throw HandError(message: "\(String(cString: sqlite3_errmsg(handle))): \(sql)")
        }
        statements[sql] = made
        return HandStatement(made)
    }
}

struct HandError: Error, CustomStringConvertible {
    let message: String
    var description: String { "by hand: \(message)" }
}
