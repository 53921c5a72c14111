import Foundation

/// When the connection was lost first during one piece of work, and how the repetitions are spread.
struct Losses {
    private var work: LostWork
    private(set) var start: ContinuousClock.Instant?

    init(_ settings: FailoverSettings) { work = LostWork(deadline: settings.deadline) }

    /// Waits until the work may be repeated.
    ///
    /// - Parameter error: the error with which the connection was lost.
    /// - Returns: when it was lost first.
    /// - Throws: the error if the work has been repeated for too long.
    mutating func wait(after error: any Error) throws -> ContinuousClock.Instant {
        let now = ContinuousClock.now
        guard let pause = work.next(after: start.map { now - $0 }) else { throw error }
        if pause > .zero { Thread.sleep(forTimeInterval: pause / .seconds(1)) }
        let since = start ?? now
        start = since
        return since
    }
}

/// The repetitions of work whose connection is lost each time: a server that can be connected to need not be one on
/// which the work succeeds. It knows no socket and no clock.
package struct LostWork: Equatable, Sendable {
    /// How long the work may be repeated, counted from the first loss.
    private let deadline: Duration
    private var pause = Duration.zero
    private static let shortestPause = Duration.milliseconds(50)
    private static let longestPause = Duration.milliseconds(500)

    package init(deadline: Duration) { self.deadline = deadline }

    /// How long to wait before the work is repeated: not at all after the first loss.
    ///
    /// - Parameter elapsed: how long ago the connection was lost first; nil for the first loss.
    /// - Returns: nil if the work is to be given up.
    package mutating func next(after elapsed: Duration?) -> Duration? {
        guard let elapsed else { return .zero }
        guard elapsed < deadline else { return nil }
        pause = max(Self.shortestPause, min(pause * 2, Self.longestPause))
        return min(pause, deadline - elapsed)
    }
}
