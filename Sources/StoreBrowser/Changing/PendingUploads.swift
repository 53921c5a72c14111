import Foundation
import HTTPMessages
import Synchronization

/// Uploaded files that wait for a confirmation. The latest ones are kept, in memory.
package final class PendingUploads: Sendable {
    /// How many bytes a file may have, and all waiting files together.
    package static let largest = 16 << 20
    private static let mostBytes = 64 << 20

    private let waiting = Mutex<[(ticket: String, data: Data)]>([])

    /// Keeps a file.
    ///
    /// - Returns: the ticket for the file.
    func keep(_ data: Data) -> String {
        let ticket = AccessGuard.makeToken()
        waiting.withLock { waiting in
            waiting.append((ticket, data))
            while waiting.count > 1, waiting.reduce(0, { $0 + $1.data.count }) > Self.mostBytes {
                waiting.removeFirst()
            }
        }
        return ticket
    }

    /// The file; nil for one that is no longer kept.
    func file(_ ticket: String) -> Data? { waiting.withLock { $0.first { $0.ticket == ticket }?.data } }

    /// Forgets a file.
    func drop(_ ticket: String) { waiting.withLock { $0.removeAll { $0.ticket == ticket } } }
}
