import Foundation
import SQLiteEngine

extension PrivateCopy {
    /// A copy of a store to read in its place, where reading the store itself would change the files beside it: SQLite
    /// makes or renews `-shm` for a log that nobody uses, and cannot do so in a folder that is read-only; and it takes
    /// back what an interrupted program has written, by its journal.
    ///
    /// While another program has the store open, that program keeps these files, and SQLite sees what it saves in a
    /// state that is complete: then, and without a log, the store is read as it is.
    ///
    /// Call this before anything in the process opens the store. The result is nil for a store to be read as it is.
    ///
    /// - Parameter original: the store.
    /// - Throws: `CommandError` if the file is missing, no store, or cannot be read or copied.
    package convenience init?(leavingLogOf original: URL) throws {
        let (log, shared) = (original.path + "-wal", original.path + "-shm")
        let hasLog = [log, shared].contains { FileManager.default.fileExists(atPath: $0) }
        guard try StoreKind(of: original) == .sqlite,
            hasLog ? !Self.isLocked(shared) : StoreFile.hasContent(original, "-journal")
        else { return nil }
        try self.init(of: original)
    }

    /// Whether another process has the database of a `-shm` file open: each connection locks one of its bytes, of which
    /// SQLite uses nine from byte 120 on (https://www.sqlite.org/walformat.html).
    static func isLocked(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (120, 9)
        // What the system cannot tell is taken for a lock: reading in place is always right.
        return fcntl(file, F_GETLK, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
    }
}
