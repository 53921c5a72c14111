import Dispatch

/// A thread for a test that measures how long something asynchronous takes.
///
/// Hundreds of tests share the few threads of Swift's pool, and some of them block these for minutes. A measured test
/// that had to wait for one of them would count that as well.
package final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "a measured test")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs the work, and what it calls that belongs to no actor, on this thread.
    /// - Returns: how long it took, without the time until it began.
    package func measure(_ work: @Sendable () async throws -> Void) async rethrows -> Duration {
        try await withTaskExecutorPreference(self) { try await ContinuousClock().measure(work) }
    }
}
