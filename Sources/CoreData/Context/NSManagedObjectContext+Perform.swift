import Foundation
import StoreSession

extension NSManagedObjectContext: BlockOwner {
    /// The context whose block is running; `NSFetchRequest.execute()` uses it.
    static var current: NSManagedObjectContext? {
        (RunningBlock.owner ?? HeldQueues.user) as? NSManagedObjectContext
    }

    /// Lets the calling code use the context as a block of `perform` does, until `giveBackQueue()`. For a new context
    /// with a queue of its own.
    ///
    /// - Parameter held: the queues with which the code runs.
    package final func lendQueue(to held: HeldQueues) { queue.lend(to: held, for: self) }

    /// Ends `lendQueue(to:)`.
    package final func giveBackQueue() { queue.giveBack() }

    /// Runs a block on the context's queue and waits for its result. Calls may be nested.
    ///
    /// - Parameter block: what to do with the context.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try waitFor(block) }

    private func waitFor<Result, Failure: Error>(
        _ block: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var result: Swift.Result<Result, Failure>?
        performAndWait {
            do throws(Failure) { result = .success(try block()) } catch { result = .failure(error) }
        }
        guard let result else { programmerError("a block given to performAndWait did not run") }
        return try result.get()
    }

    /// Runs a block on the context's queue without blocking the caller.
    ///
    /// The block is `@Sendable` under `@preconcurrency`, as Apple's is: a block that captures managed objects, or was
    /// passed to a wrapper, gets a warning rather than an error.
    ///
    /// - Parameters:
    ///   - schedule: `.immediate` runs the block at once if the caller is on the queue already.
    ///   - block: what to do with the context.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws.
    @preconcurrency
    public func perform<T>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws -> T
    ) async rethrows -> T {
        try Self.get(await outcome(of: block, schedule), of: block)
    }

    private func outcome<T>(
        of block: @escaping @Sendable () throws -> T, _ schedule: ScheduledTaskType
    ) async -> Swift.Result<T, any Error> {
        if schedule == .immediate, queue.isCurrent { return Swift.Result { try waitFor(block) } }
        // The waiting thread continues after the changes have been processed, not meanwhile.
        let result: Transferred<Swift.Result<T, any Error>> = await withCheckedContinuation { continuation in
            let later = Later<Swift.Result<T, any Error>>()
            runLater {
                later.value = Swift.Result { try block() }
            } then: {
                continuation.resume(returning: Transferred(later.take()))
            }
        }
        return result.value
    }

    /// Rethrows the error of a block; a function that `rethrows` cannot throw other errors.
    static func get<T, Failure: Error>(
        _ result: Swift.Result<T, any Error>, of block: () throws(Failure) -> T
    ) throws(Failure) -> T {
        switch result {
        case .success(let value): return value
        case .failure(let error as Failure): throw error
        case .failure(let error): programmerError("a block that throws \(Failure.self) threw \(error)")
        }
    }

    /// - Parameters:
    ///   - block: what to run.
    ///   - finish: called after the block's changes have been processed.
    func runLater(_ block: @escaping () -> Void, then finish: @escaping () -> Void = {}) {
        let work = HandedBlock(block)
        queue.async { [self] in
            run({ work.run() }, isEvent: true)
            finish()
        }
    }

    /// The future result of a block.
    final class Later<Value> {
        // Confined to the queue that runs the block.
        var value: Value?

        func take() -> Value {
            guard let value else { programmerError("a block given to perform did not run") }
            self.value = nil
            return value
        }
    }

    func runAndWait(_ block: () -> Void) {
        if queue.isCurrent { return run(block, isEvent: false) }
        // As in Core Data, changes are processed at the end of an event, by a fetch or by a save. An undo manager
        // groups changes by blocks.
        queue.sync { run(block, isEvent: undoManager != nil) }
    }

    /// Runs a block for this context. Changes are processed at the end of the outermost one.
    private func run(_ block: () -> Void, isEvent: Bool) {
        if linkToParent != nil { takePromotions() }
        RunningBlock.$owner.withValue(self) { block() }
        if isEvent { endOfEvent() }
    }

    private func endOfEvent() {
        if event.hasNews || !deletions.unpropagated.isEmpty { processPendingChanges() }
        undoManager?.endEvent(isBlock: !queue.isMainQueue)
    }

    /// Schedules processing of the latest changes on the main queue.
    ///
    /// Private queues process them at the end of each block. A caller that uses the context off its queue gets no event
    /// of its own, since the main queue would process the changes while the caller continues on another thread. Such a
    /// context processes changes when it is asked to, fetches or saves.
    func scheduleProcessing() {
        guard queue.isMainQueue, !isProcessingScheduled, queue.isCurrent else { return }
        isProcessingScheduled = true
        DispatchQueue.main.async { [table] in
            guard let context = table.context else { return }
            context.isProcessingScheduled = false
            context.endOfEvent()
        }
    }
}

extension NSFetchRequest {
    /// Runs the request in the context whose `perform` block is running.
    ///
    /// - Throws: the errors of `NSManagedObjectContext.fetch(_:)`, and an error outside such a block.
    public func execute() throws -> [ResultType] {
        guard let context = NSManagedObjectContext.current else {
            throw StoreError.make(
                CoreDataErrorCode.coreData,
                "execute() works inside a context's perform block; elsewhere use context.fetch(request).")
        }
        return try context.fetch(self)
    }
}
