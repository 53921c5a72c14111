import Foundation
import StoreSession

/// Whether the task that waits for work has been cancelled. The work runs on a queue, where `Task.isCancelled` knows
/// nothing of that task.
final class Cancellation: Sendable {
    private struct State {
        var isCancelled = false
        /// Ends the waiting; nil once the work's turn has come, or what it waits for.
        var leave: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Kept by thread, since work on a queue does not change threads. A task-local value would be inherited by tasks
    /// that the work makes, and these are not cancelled with it.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The cancellation of the work that the current code is a part of; nil if it is not part of such work.
    static var current: Cancellation? {
        // Unretained: `run` keeps the object alive as long as it is set.
        pthread_getspecific(key).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// - Throws: `CancellationError` when the task has been cancelled.
    func check() throws {
        if state.withLock({ $0.isCancelled }) { throw CancellationError() }
    }

    private func cancel() {
        let leave = state.withLock { state in
            state.isCancelled = true
            defer { state.leave = nil }
            return state.leave
        }
        leave?()
    }

    /// Waits for the work's turn, or within it for something else.
    ///
    /// - Parameter leave: called if the task is cancelled before.
    /// - Returns: false if the task is cancelled already.
    func waits(orLeaves leave: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if !state.isCancelled { state.leave = leave }
            return !state.isCancelled
        }
    }

    /// The work's turn has come, or what it waits for.
    ///
    /// - Returns: false if nobody waits for it any more.
    func hasWaited() -> Bool {
        state.withLock { state in
            state.leave = nil
            return !state.isCancelled
        }
    }

    /// Runs work that asks ``current`` where it may stop.
    private func run<Result>(_ work: () throws -> Result) throws -> Result {
        let former = pthread_getspecific(Self.key)
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(Self.key, former) }
        return try withExtendedLifetime(self, work)
    }

    /// Runs work on a queue, unless the task that waits for it is cancelled before its turn comes: that task goes on at
    /// once, however long the work before it takes.
    ///
    /// - Parameters:
    ///   - queue: the queue.
    ///   - work: asks ``current`` where it may stop.
    /// - Returns: what the work returns.
    /// - Throws: what the work throws; `CancellationError` when it did not begin.
    static func running<Result: Sendable>(
        on queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let leave: @Sendable () -> Void = { continuation.resume(throwing: CancellationError()) }
                guard cancellation.waits(orLeaves: leave) else { return leave() }
                queue.async {
                    guard cancellation.hasWaited() else { return }
                    continuation.resume(with: Swift.Result { try cancellation.run(work) })
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }
}

extension Cancellation: EndableWait {}

/// A value that only one thread at a time can access.
package final class Locked<Value>: @unchecked Sendable {
    // @unchecked Sendable: `value` is only accessed with the lock held.
    private var value: Value
    private let lock = NSLock()

    package init(_ value: Value) { self.value = value }

    package func withLock<Result>(_ work: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try work(&value)
    }
}

/// The threads that tasks share.
enum ThreadSharing {
    /// Whether the current thread may be kept for some short work. An executor that the task prefers may be a loop
    /// of events, which must not be kept. Functions of no actor do not run on the main one.
    static var allowsWork: Bool {
        withUnsafeCurrentTask { $0 != nil && $0?.unownedTaskExecutor == nil }
    }
}

/// Carries a value to a queue that owns it from then on.
package struct UncheckedTransfer<Value>: @unchecked Sendable {
    // @unchecked Sendable: the code that makes one ensures that only one thread at a time has the value.
    package let value: Value

    package init(value: Value) { self.value = value }
}
