import Foundation

/// Notifies open pages of changes, by server-sent events.
public final class ChangeBroadcaster: @unchecked Sendable {
    // @unchecked Sendable: the condition guards what changes.
    private let condition = NSCondition()
    private var count = 0

    /// Creates a broadcaster that has seen no change.
    public init() {}

    /// The number of changes so far.
    public var latest: Int { condition.withLock { count } }

    /// Notifies all open streams of a change.
    public func broadcast() {
        condition.withLock {
            count += 1
            condition.broadcast()
        }
    }

    /// The changes from now on as server-sent events, for the body of a response of the type `text/event-stream`.
    ///
    /// - Parameter heartbeat: after how many seconds without a change a comment is sent, to detect a closed
    ///   connection.
    /// - Returns: the stream.
    public func stream(heartbeat: Double = 15) -> any HTTPStream { ChangeStream(self, heartbeat: heartbeat) }

    /// Waits for a change.
    ///
    /// - Parameters:
    ///   - seen: the number of the latest change that is known.
    ///   - timeout: how long to wait, in seconds.
    ///   - isCancelled: whether to give up; called while the condition is locked.
    /// - Returns: the number of the latest change; `seen` if there was none.
    func wait(after seen: Int, timeout: Double, unless isCancelled: () -> Bool) -> Int {
        condition.withLock {
            let end = Date(timeIntervalSinceNow: timeout)
            while count == seen, !isCancelled(), condition.wait(until: end) {}
            return count
        }
    }

    /// Wakes all waiting streams, so that cancelled ones end.
    func wake() { condition.withLock { condition.broadcast() } }
}

/// Changes as server-sent events: one event for each, and a comment if there was none for a while, to detect a closed
/// connection.
final class ChangeStream: HTTPStream, @unchecked Sendable {
    // @unchecked Sendable: only the connection's thread uses `seen` and `hasBegun`, and the flag has a lock of its own.
    private let broadcaster: ChangeBroadcaster
    private let heartbeat: Double
    private var seen: Int
    private var hasBegun = false
    private let isCancelled = CancellationFlag()

    init(_ broadcaster: ChangeBroadcaster, heartbeat: Double) {
        self.broadcaster = broadcaster
        self.heartbeat = heartbeat
        seen = broadcaster.latest
    }

    func next() -> Data? {
        guard hasBegun else {
            hasBegun = true
            return Data("retry: 1000\n\nevent: hello\ndata: \(seen)\n\n".utf8)
        }
        let latest = broadcaster.wait(after: seen, timeout: heartbeat) { isCancelled.isSet }
        if isCancelled.isSet { return nil }
        defer { seen = latest }
        return Data((latest == seen ? ": nothing new\n\n" : "data: \(latest)\n\n").utf8)
    }

    func cancel() {
        isCancelled.set()
        broadcaster.wake()
    }
}

/// A flag that is set once.
package final class CancellationFlag: @unchecked Sendable {
    // @unchecked Sendable: the lock guards what changes.
    private let lock = NSLock()
    private var value = false

    package init() {}

    package var isSet: Bool { lock.withLock { value } }
    package func set() { lock.withLock { value = true } }
}
