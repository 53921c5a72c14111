import CSQLite
import Synchronization

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
