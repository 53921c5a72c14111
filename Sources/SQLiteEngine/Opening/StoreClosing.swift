import CompactCollections
import Foundation
import SQLiteConnection
import Synchronization

/// The files of stores that this process has open for writing. When the process ends, the content of their logs is
/// moved into them, so that the main file alone has all rows, even if the stores were not released.
enum FilesAtExit {
    private static let paths = Mutex<[String: Int]>([:])
    private static let process = ProcessInfo.processInfo.processIdentifier
    private static let isRegistered: Bool = {
        _ = process
        return atexit { FilesAtExit.moveLogs() } == 0
    }()

    static func add(_ path: String) {
        _ = isRegistered
        paths.withLock { $0[path, default: 0] += 1 }
    }

    static func remove(_ path: String) {
        paths.withLock { paths in
            let count = (paths[path] ?? 0) - 1
            paths[path] = count > 0 ? count : nil
        }
    }

    private static func moveLogs() {
        // A forked child must not touch its parent's locks; and another thread may be using the list.
        guard getpid() == process, let open = paths.withLockIfAvailable({ Array($0.keys) }) else { return }
        for path in open {
            // A connection of its own, since other threads may still be using theirs. It does not block.
            let log = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
            guard (log?[.size] as? NSNumber)?.intValue ?? 0 > 0 else { continue }
            guard let connection = try? Connection(path: path, mode: .readWrite, busyTimeout: 0) else { continue }
            // SQLite knows of the log only after it has read something.
            _ = try? connection.integer("PRAGMA schema_version")
            try? connection.checkpoint(.passive)
        }
    }
}

/// A store's file that is open for writing, as long as this object exists.
final class OpenFile: Sendable {
    private let path: String

    init(_ path: String) {
        self.path = path
        FilesAtExit.add(path)
    }

    deinit { FilesAtExit.remove(path) }
}

extension OpenStore {
    /// Ends open statements, and moves the log into the file, as far as no connection reads an older state. The very
    /// last connection does that by itself when it is closed; others do not.
    func prepareToClose() {
        readmitWriters()
        guard connection.mode == .create || connection.mode == .readWrite, !connection.isInTransaction else { return }
        // Pages that cannot be moved stay in the log, and are still valid.
        try? connection.checkpoint(.passive)
        removeUnread()
        journal.settle()
    }
}
