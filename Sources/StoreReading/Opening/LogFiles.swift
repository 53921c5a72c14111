import Foundation
import SQLiteConnection
import Synchronization

/// The files `-wal` and `-shm`, which SQLite creates beside a database with a write-ahead log when it is read. A
/// read-only connection does not remove them; if there were none before, this does, when the process closes its last
/// store on that file.
package final class LogFiles: Sendable {
    private struct Use {
        var count = 0
        /// Whether the files existed before.
        let wereThere: Bool
        let kind: StoreKind
    }

    private static let uses = Mutex<[String: Use]>([:])
    private let path: String
    private let hasLeft = Atomic<Bool>(false)

    /// Registers a use of the file. Call this before anything reads it.
    ///
    /// - Throws: `CommandError` for a file that is no store.
    package init(of url: URL) throws {
        path = Self.path(of: url)
        try Self.uses.withLock { uses in
            let known = try uses[path] ?? Use(wereThere: Self.areThere(path), kind: StoreKind(lookingAt: url))
            uses[path] = Use(count: known.count + 1, wereThere: known.wereThere, kind: known.kind)
        }
    }

    /// The kind of a file that the process has open. Only SQLite may open and close such a file once more: otherwise
    /// the system would release all locks of the process on it, and another program that closes the store would remove
    /// its log.
    static func kind(of url: URL) -> StoreKind? { uses.withLock { $0[path(of: url)]?.kind } }

    private static func path(of url: URL) -> String { url.standardizedFileURL.path }

    private static func areThere(_ path: String) -> Bool {
        ["-wal", "-shm"].contains { FileManager.default.fileExists(atPath: path + $0) }
    }

    /// Ends the use of the file. Call this when nothing reads it any more.
    package func leave() {
        guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
        Self.uses.withLock { uses in
            guard var use = uses[path] else { return }
            use.count -= 1
            uses[path] = use.count > 0 ? use : nil
            // Locked, so that no thread begins to read meanwhile.
            if use.count == 0, !use.wereThere { Self.remove(path) }
        }
    }

    /// Removes the files: the last connection that may write does so when it is closed, unless another process has the
    /// database open. A log with content belongs to another program, and stays.
    private static func remove(_ path: String) {
        var facts = stat()
        guard stat(path + "-wal", &facts) == 0, facts.st_size == 0, access(path, W_OK) == 0,
            let connection = try? Connection(path: path, mode: .readWrite, busyTimeout: 0)
        else { return }
        // SQLite notices the log only when it has read something.
        _ = try? connection.integer("PRAGMA schema_version")
    }

    deinit { leave() }

    /// Waits up to a second until the process has no store open.
    package static func waitUntilLeft() {
        for _ in 0..<100 where !(uses.withLock { $0.isEmpty }) { usleep(10_000) }
    }
}
