import Foundation
import SQLiteConnection
import Synchronization

/// The files `-wal` and `-shm`, which SQLite puts beside a database with a write-ahead log as soon as somebody reads it. A connection that only
/// reads does not take them away; where there were none before, this does, when the last store of the process on that file is closed.
package final class LogFiles: Sendable {
    private struct Use {
        var count = 0
        /// Whether the files were there before.
        let wereThere: Bool
        let kind: StoreKind
    }

    private static let uses = Mutex<[String: Use]>([:])
    private let path: String
    private let hasLeft = Atomic<Bool>(false)

    /// To be made before anything reads the file.
    ///
    /// - Throws: `CommandError` for a file that is no store.
    package init(of url: URL) throws {
        path = Self.path(of: url)
        try Self.uses.withLock { uses in
            let known = try uses[path] ?? Use(wereThere: Self.areThere(path), kind: StoreKind(lookingAt: url))
            uses[path] = Use(count: known.count + 1, wereThere: known.wereThere, kind: known.kind)
        }
    }

    /// What a file is that the process has open. It must not be opened and closed once more but by SQLite: the system would take all locks of the
    /// process on it away, and another program that closes the store would take its log away.
    static func kind(of url: URL) -> StoreKind? { uses.withLock { $0[path(of: url)]?.kind } }

    private static func path(of url: URL) -> String { url.standardizedFileURL.path }

    private static func areThere(_ path: String) -> Bool {
        ["-wal", "-shm"].contains { FileManager.default.fileExists(atPath: path + $0) }
    }

    /// To be called when nothing reads the file any more.
    package func leave() {
        guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
        Self.uses.withLock { uses in
            guard var use = uses[path] else { return }
            use.count -= 1
            uses[path] = use.count > 0 ? use : nil
            // Locked, so that nobody begins to read meanwhile.
            if use.count == 0, !use.wereThere { Self.remove(path) }
        }
    }

    /// The last connection that may write takes the files away when it is closed, if no other process has the database open. A log with something
    /// in it is somebody else's, and stays.
    private static func remove(_ path: String) {
        var facts = stat()
        guard stat(path + "-wal", &facts) == 0, facts.st_size == 0, access(path, W_OK) == 0,
            let connection = try? Connection(path: path, mode: .readWrite, busyTimeout: 0)
        else { return }
        // SQLite knows of the log only when it has read something.
        _ = try? connection.integer("PRAGMA schema_version")
    }

    deinit { leave() }

    /// Waits until no store of the process is open, for a second.
    package static func waitUntilLeft() {
        for _ in 0..<100 where !(uses.withLock { $0.isEmpty }) { usleep(10_000) }
    }
}
