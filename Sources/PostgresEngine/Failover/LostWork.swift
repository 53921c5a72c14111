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
