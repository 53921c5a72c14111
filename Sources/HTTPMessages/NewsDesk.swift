import Foundation

/// Tells all open pages that something has changed.
public final class NewsDesk: @unchecked Sendable {
    // @unchecked Sendable: the condition guards what changes.
    private let condition = NSCondition()
    private var count = 0

    /// Creates a desk without news.
    public init() {}

    /// How many changes there have been.
    public var latest: Int { condition.withLock { count } }

    /// Something has changed: all who listen are told.
    public func announce() {
        condition.withLock {
            count += 1
            condition.broadcast()
        }
    }

    /// The news from now on as server-sent events, for the body of a response of the type `text/event-stream`.
    ///
    /// - Parameter patience: after how many seconds without news the line is tried.
    /// - Returns: the stream.
    public func stream(patience: Double = 15) -> any HTTPStream { NewsStream(self, patience: patience) }

    /// Waits for news.
    ///
    /// - Parameters:
    ///   - seen: the number of the latest news that is known.
    ///   - patience: how long to wait, in seconds.
    ///   - isOver: whether to give up; asked with the desk locked.
    /// - Returns: the number of the latest news, maybe the same.
    func wait(after seen: Int, patience: Double, unless isOver: () -> Bool) -> Int {
        condition.withLock {
            let end = Date(timeIntervalSinceNow: patience)
            while count == seen, !isOver(), condition.wait(until: end) {}
            return count
        }
    }

    /// Has everybody who waits look whether to give up.
    func wake() { condition.withLock { condition.broadcast() } }
}

/// The news as server-sent events: one event for each change, and a comment now and then, so that a page that has gone is noticed.
final class NewsStream: HTTPStream, @unchecked Sendable {
    // @unchecked Sendable: `seen` belongs to the connection's thread, `isOver` is guarded by the desk's condition.
    private let desk: NewsDesk
    private let patience: Double
    private var seen: Int
    private var hasBegun = false
    private let isOver = Flag()

    init(_ desk: NewsDesk, patience: Double) {
        self.desk = desk
        self.patience = patience
        seen = desk.latest
    }

    func next() -> Data? {
        guard hasBegun else {
            hasBegun = true
            return Data("retry: 1000\n\nevent: hello\ndata: \(seen)\n\n".utf8)
        }
        let latest = desk.wait(after: seen, patience: patience) { isOver.isUp }
        if isOver.isUp { return nil }
        defer { seen = latest }
        return Data((latest == seen ? ": nothing new\n\n" : "data: \(latest)\n\n").utf8)
    }

    func cancel() {
        isOver.raise()
        desk.wake()
    }
}

/// Goes up once.
package final class Flag: @unchecked Sendable {
    // @unchecked Sendable: the lock guards what changes.
    private let lock = NSLock()
    private var value = false

    package init() {}

    package var isUp: Bool { lock.withLock { value } }
    package func raise() { lock.withLock { value = true } }
}
