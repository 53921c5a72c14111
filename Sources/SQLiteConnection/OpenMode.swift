import CSQLite

/// How a connection opens its file.
package enum OpenMode: Sendable {
    /// Reads only. SQLite still takes locks, and sees what is in the write-ahead log.
    case readOnly
    /// Reads and writes a file that must exist.
    case readWrite
    /// Reads and writes, creating the file if there is none.
    case create
    /// Reads a file that does not change meanwhile: without locks or files beside it, and ignoring its write-ahead log.
    /// For read-only media and folders.
    case immutable
    /// A database in memory, which ends with the connection. The path only names it in errors.
    case memory

    var flags: Int32 {
        // One connection is used by one queue at a time, so SQLite's own mutexes are not needed.
        let common = SQLITE_OPEN_NOMUTEX
        switch self {
        case .readOnly: return common | SQLITE_OPEN_READONLY
        case .readWrite: return common | SQLITE_OPEN_READWRITE
        case .create, .memory: return common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .immutable: return common | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        }
    }

    /// The file name for SQLite: the path, or a `file:` URI if the mode needs a parameter.
    func filename(for path: String) -> String {
        if case .memory = self { return ":memory:" }
        guard case .immutable = self else { return path }
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
        return uri + "?immutable=1"
    }
}
