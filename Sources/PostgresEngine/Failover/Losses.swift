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
