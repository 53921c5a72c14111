import Foundation
import Synchronization

/// Runs work on another thread, as another program would, and waits for it. It blocks its thread: for tests that have
/// the trait `ownThread`, and for blocks of a store's that have a thread for themselves.
///
/// - Parameter work: the work.
/// - Throws: what the work throws.
package func elsewhere(_ work: @escaping () throws -> Void) throws {
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var failure: (any Error)?  // written before the semaphore is signalled
    nonisolated(unsafe) let work = work  // called while the caller waits
    Thread.detachNewThread {
        do { try work() } catch { failure = error }
        done.signal()
    }
    done.wait()
    if let failure { throw failure }
}

/// Runs work in a task and waits for it, in a block of a store's that has a thread for itself.
///
/// - Parameter work: the work.
/// - Throws: what the work throws.
package func inTask(_ work: @escaping @Sendable () async throws -> Void) throws {
    let done = DispatchSemaphore(value: 0)
    let failure = Mutex<(any Error)?>(nil)
    Task.detached {
        do { try await work() } catch { failure.withLock { $0 = error } }
        done.signal()
    }
    done.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
}

/// Waits for what other threads bring about, and keeps no thread meanwhile.
///
/// - Parameters:
///   - limit: for how long it waits. It looks a thousand times at least, since on a busy machine a task may sleep for
///     much longer than it asked to.
///   - isolation: the actor of the caller.
///   - condition: whether it is so.
/// - Returns: whether it was so in the end.
/// - Throws: what the condition throws; `CancellationError` in a task that is cancelled.
package func eventually(
    within limit: Duration = .seconds(30), isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws -> Bool {
    let end = ContinuousClock.now + limit
    var looks = 1
    while try await !condition() {
        if looks >= 1_000, ContinuousClock.now >= end { return false }
        try await Task.sleep(for: .milliseconds(10))
        looks += 1
    }
    return true
}
