import CSQLite
import Foundation
import Synchronization

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
