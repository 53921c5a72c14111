import Foundation

extension NSManagedObjectContext {
    /// Runs a block on the context's queue, later. Changes are processed when it ends.
    public func perform(_ block: @escaping () -> Void) {
        queue.async { [self] in
            block()
            endOfEvent()
        }
    }

    /// Runs a block on the context's queue and waits for its result. May be nested.
    ///
    /// - Parameter block: what to do with the context.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws.
    public func performAndWait<Result, Failure: Error>(
        _ block: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if queue.isCurrent { return try block() }
        var outcome: Swift.Result<Result, Failure>?
        queue.sync {
            do throws(Failure) { outcome = .success(try block()) } catch { outcome = .failure(error) }
            endOfEvent()
        }
        switch outcome {
        case .success(let result): return result
        case .failure(let error): throw error
        case nil: programmerError("a block given to performAndWait did not run")
        }
    }

    /// Runs a block on the context's queue without blocking the caller.
    ///
    /// - Parameters:
    ///   - schedule: `.immediate` runs the block at once when already on the queue.
    ///   - block: what to do with the context.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws.
    public func perform<Result, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        if schedule == .immediate, queue.isCurrent { return try block() }
        let outcome: Transferred<Swift.Result<Result, Failure>> = await withCheckedContinuation { continuation in
            queue.async { [self] in
                let outcome: Swift.Result<Result, Failure>
                do throws(Failure) { outcome = .success(try block()) } catch { outcome = .failure(error) }
                endOfEvent()
                continuation.resume(returning: Transferred(outcome))
            }
        }
        return try outcome.value.get()
    }

    /// Processes changes at the end of a block that ran on the queue.
    private func endOfEvent() {
        if !event.isEmpty || !refreshed.isEmpty { processPendingChanges() }
    }

    /// Has the changes that were just made processed when the main queue comes to it.
    ///
    /// Private queues process them at the end of each block.
    func scheduleProcessing() {
        guard queue.isMainQueue, !isProcessingScheduled else { return }
        isProcessingScheduled = true
        DispatchQueue.main.async { [weak self] in
            guard let self else { return }
            isProcessingScheduled = false
            endOfEvent()
        }
    }
}
