/// Whether the task that waits for work has been cancelled. The work runs on a queue, where `Task.isCancelled` knows
/// nothing of that task.
final class Cancellation: Sendable {
    private let isCancelled = Locked(false)

    /// Kept by thread, since work on a queue does not change threads. A task-local value would be inherited by tasks
    /// that the work makes, and these are not cancelled with it.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Of the work that the current code is a part of.
    static var current: Cancellation? {
        // Unretained: `run` keeps the object alive as long as it is set.
        pthread_getspecific(key).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// - Throws: `CancellationError` when the task has been cancelled.
    func check() throws {
        if isCancelled.withLock({ $0 }) { throw CancellationError() }
    }

    /// Runs work that asks ``current`` where it may stop.
    private func run<Result>(_ work: () throws -> Result) throws -> Result {
        try check()
        let former = pthread_getspecific(Self.key)
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(Self.key, former) }
        return try withExtendedLifetime(self, work)
    }

    /// Runs work on a queue, unless the task that waits for it is cancelled before its turn comes.
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
                queue.async { continuation.resume(with: Swift.Result { try cancellation.run(work) }) }
            }
        } onCancel: {
            cancellation.isCancelled.withLock { $0 = true }
        }
    }
}
