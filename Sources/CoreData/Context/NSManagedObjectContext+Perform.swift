import Foundation
import StoreEngine
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

extension NSManagedObjectContext {
    /// Creates a context.
    ///
    /// - Parameter type: `.privateQueue` or `.mainQueue`.
    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }

    /// The queue to which a context is confined, with Swift's names.
    public struct ConcurrencyType: RawRepresentable, Hashable, Sendable {
        /// The type with the Objective-C names.
        public typealias RawValue = NSManagedObjectContextConcurrencyType
        /// The value with the Objective-C name.
        public let rawValue: NSManagedObjectContextConcurrencyType
        /// Makes the type from the value with the Objective-C name.
        ///
        /// - Parameter rawValue: the value with the Objective-C name.
        public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }
        /// A private queue.
        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        /// The main queue.
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    }

    /// When `perform` runs its block.
    public enum ScheduledTaskType: Sendable {
        /// Immediately if the caller is on the context's queue already, otherwise after the blocks that are waiting
        /// there.
        case immediate
        /// After the blocks that are waiting on the queue.
        case enqueued
    }
}

/// Checks that contexts and their objects are used on their queues, like Core Data's concurrency debugging.
///
/// The launch argument `-com.apple.CoreData.ConcurrencyDebug 1` turns it on, and so does an environment variable named
/// `com.apple.CoreData.ConcurrencyDebug` or `COREDATA_CONCURRENCY_DEBUG` with the value 1 (shells cannot set names with
/// dots). A use on a wrong queue then stops the program.
enum ConcurrencyDebug {
    static let isOn = isTurnedOn(arguments: CommandLine.arguments, environment: ProcessInfo.processInfo.environment)

    private static let setting = DebugSetting(
        name: "com.apple.CoreData.ConcurrencyDebug", variable: "COREDATA_CONCURRENCY_DEBUG")

    static func isTurnedOn(arguments: [String], environment: [String: String]) -> Bool {
        setting.level(arguments: arguments, environment: environment) > 0
    }
}

extension NSManagedObjectContext {
    /// Stops the program if concurrency debugging is on and the caller is not on the context's queue.
    func checkQueue() {
        guard ConcurrencyDebug.isOn, concurrencyType != .confinementConcurrencyType, !queue.isCurrent else { return }
        programmerError(
            "concurrency violation: context “\(name ?? "without a name")” or one of its objects was used outside its queue. "
                + "Use it inside perform or performAndWait, and a main-queue context on the main thread.")
    }
}

/// Lets extensions create contexts with `Self(concurrencyType:)`, as ``CoordinatorMaking`` does for coordinators.
public protocol ContextMaking {}

extension NSManagedObjectContext: ContextMaking {}

extension ContextMaking where Self: NSManagedObjectContext {
    /// Creates a context.
    ///
    /// Stops the program for a subclass, whose initializer is not known here.
    ///
    /// - Parameter type: the queue to which the context is confined.
    public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
        guard let context = NSManagedObjectContext(concurrencyType: type) as? Self else {
            programmerError("a \(Self.self) is made by naming the class: \(Self.self)(concurrencyType:)")
        }
        self = context
    }
}
