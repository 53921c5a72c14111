import Dispatch
import Testing

/// Threads for a test that blocks them, or that measures how long something asynchronous takes.
///
/// Tasks share a few threads: a task that blocks one waits for ever where what it waits for needs another task, and a
/// measured one counts the time of whoever has the thread before it.
package final class OwnThread: TaskExecutor {
    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // A queue for each piece of work, so that the tasks of a group may wait for one another.
        DispatchQueue(label: "a test's own").async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs the work, and what it calls that belongs to no actor, on a thread of its own.
    /// - Returns: how long it took, without the time until it began.
    package func measure(_ work: @Sendable () async throws -> Void) async rethrows -> Duration {
        try await withTaskExecutorPreference(self) { try await ContinuousClock().measure(work) }
    }
}

/// Runs each test on a thread of its own; see ``Testing/Trait/ownThread``.
package struct OwnThreadTrait: SuiteTrait, TestTrait, TestScoping {
    package let isRecursive = true

    package init() {}

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(OwnThread()) { try await function() }
    }
}

extension Trait where Self == OwnThreadTrait {
    /// For tests that block the thread that they run on: that wait for other threads, for programs or for a server, or
    /// sleep without `await`. The tasks of their groups have such threads as well; tasks made by `Task` do not.
    package static var ownThread: Self { OwnThreadTrait() }
}
