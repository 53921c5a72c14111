/// Whether the task that waits for work has been cancelled. The work runs on a queue, where `Task.isCancelled` knows nothing of that task.
final class Cancellation: Sendable {
    /// Of the work that the current code is a part of.
    @TaskLocal static var current: Cancellation?

    private let isCancelled = Locked(false)

    /// - Throws: `CancellationError` when the task has been cancelled.
    func check() throws {
        if isCancelled.withLock({ $0 }) { throw CancellationError() }
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
                queue.async {
                    let result = Swift.Result {
                        try cancellation.check()
                        return try $current.withValue(cancellation, operation: work)
                    }
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            cancellation.isCancelled.withLock { $0 = true }
        }
    }
}
