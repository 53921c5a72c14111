import CSQLite
import Foundation
import Synchronization

/// The database files that this process has open.
///
/// Nothing but SQLite may open and close one of them: the system takes all locks of a process on a file away when the process closes it,
/// whoever had opened it, and another program that closes the store would then take the log away that this one writes to.
package enum OpenFiles {
    private static let counts = Mutex<[Identity: Int]>([:])

    /// A file, by whatever name.
    struct Identity: Hashable {
        let device: UInt64
        let node: UInt64

        /// - Returns: nil for a file that is not there.
        init?(_ path: String) {
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
