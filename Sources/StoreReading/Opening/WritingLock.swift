import Foundation
import SQLiteConnection

/// The lock that SQLite takes for writing to a store, as other processes see it. Looking at it takes none, and leaves
/// nothing beside the store.
package enum WritingLock {
    /// Says that a store's lock is waited for, if another program has it for a second.
    ///
    /// - Parameters:
    ///   - url: the store; of files that are not SQLite stores nothing is said.
    ///   - seconds: how long it is not worth saying.
    ///   - say: takes the sentence, without its final period.
    package static func announce(_ url: URL, after seconds: Double = 1, _ say: (String) -> Void) {
        // To close a file releases this process's own locks on it.
        guard !OpenFiles.contains(url.path) else { return }
        let end = ProcessInfo.processInfo.systemUptime + seconds
        while isHeld(of: url) {
            guard ProcessInfo.processInfo.systemUptime < end else {
                return say("“\(url.path)” is being written to by another program; waiting until it has finished")
            }
            usleep(20_000)
        }
    }

    /// The bytes are those of SQLite's file format: the reserved, pending and shared ones of a rollback journal's
    /// database, and the writer's in the index of a write-ahead log.
    private static func isHeld(of url: URL) -> Bool {
        isHeld(url.path, from: 0x4000_0000, 512) || isHeld(url.path + "-shm", from: 120, 1)
    }

    /// Whether another process keeps some bytes from being read.
    private static func isHeld(_ path: String, from start: Int, _ count: Int) -> Bool {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(F_RDLCK), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (off_t(start), off_t(count))
        return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }
}
