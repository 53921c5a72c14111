import CoreData
import Pippin

/// Work in a context of its own that runs in an `OperationQueue` and has a result.
///
/// ```swift
/// let counting = DataOperation(manager: manager) { context, progress in
///     try PersonRecord.count(in: context)
/// }
/// queue.addOperations([counting], waitUntilFinished: true)
/// let count = try counting.result?.get()
/// ```
///
/// Alternatively, a subclass overrides ``performWork(in:)``. The context is a child of a worker context. Both are saved
/// when the work is done; if it throws or is cancelled, nothing is saved. Two operations of a manager never write at
/// the same time.
open class DataOperation<Output: Sendable>: Operation, @unchecked Sendable {
    // @unchecked Sendable: `outcome` is locked; the rest does not change once the operation is made.

    /// The manager that the operation belongs to.
    public let manager: PersistenceManager
    /// The progress of the work. Cancelling it cancels the operation.
    public let progress: Progress
    private let mergePolicy: NSMergePolicy?
    private let work: (@Sendable (NSManagedObjectContext, Progress) throws -> Output)?
    private let outcome = Locked<Result<Output, any Error>?>(nil)

    /// An operation for a subclass.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - mergePolicy: the merge policy of the save; without one, the manager's.
    public init(manager: PersistenceManager, mergePolicy: NSMergePolicy? = nil) {
        self.manager = manager
        self.mergePolicy = mergePolicy
        progress = Progress(totalUnitCount: 1)
        work = nil
        super.init()
    }

    /// An operation that runs a closure.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - mergePolicy: the merge policy of the save; without one, the manager's.
    ///   - work: receives the operation's context, on its queue, and its progress.
    public init(
        manager: PersistenceManager, mergePolicy: NSMergePolicy? = nil,
        work: @escaping @Sendable (NSManagedObjectContext, Progress) throws -> Output
    ) {
        self.manager = manager
        self.mergePolicy = mergePolicy
        progress = Progress(totalUnitCount: 1)
        self.work = work
        super.init()
    }

    /// The outcome of the work; nil before the operation has finished. That of an operation that was cancelled before
    /// it began is a `CancellationError`.
    public var result: Result<Output, any Error>? {
        // A queue finishes such an operation without running it.
        outcome.withLock { $0 } ?? (isFinished && isCancelled ? .failure(CancellationError()) : nil)
    }

    /// Whether the work is in the store as soon as it is done, so that a later cancellation comes too late.
    var isDoneAtOnce: Bool { false }

    /// Does the work. It is called on the context's queue; its changes are saved when it returns.
    ///
    /// - Parameter context: the operation's context.
    /// - Returns: the operation's result.
    /// - Throws: the operation's error; nothing is saved then.
    open func performWork(in context: NSManagedObjectContext) throws -> Output {
        guard let work else { throw PersistenceError.noWork(operation: "\(type(of: self))") }
        return try work(context, progress)
    }

    /// - Throws: `CancellationError` if the operation or its progress was cancelled.
    public func checkCancellation() throws {
        if isCancelled || progress.isCancelled { throw CancellationError() }
    }

    /// Saves the changes made so far up to the store, so that they stay even if the operation fails later.
    ///
    /// - Parameter context: the operation's context, on whose queue this is called.
    /// - Throws: ``PersistenceError``
    public func saveBatch(in context: NSManagedObjectContext) throws {
        try manager.save(context)
        if let parent = context.parent { try parent.performAndWait { try manager.save(parent) } }
    }

    /// Runs the work; operation queues call this.
    open override func main() {
        let result = Result { () throws -> Output in
            try manager.openIfNeeded()
            try checkCancellation()
            return try manager.writes.sync { try run() }
        }
        if case .success = result { progress.completedUnitCount = progress.totalUnitCount }
        outcome.withLock { $0 = result }
    }

    private func run() throws -> Output {
        let worker = manager.makeWorker()
        // Conflicts with the store arise where the worker is saved.
        if let mergePolicy { worker.mergePolicy = mergePolicy }
        let child = manager.childContext(of: worker, mergePolicy: mergePolicy)
        return try child.performAndWait {
            try manager.writes.entering {
                let output = try performWork(in: child)
                if !isDoneAtOnce { try checkCancellation() }
                try saveBatch(in: child)
                return output
            }
        }
    }
}

/// Sets properties of many records in one statement, without loading them. The manager's lasting contexts merge the
/// changes.
///
/// ```swift
/// let retiring = BatchUpdateOperation(
///     manager: manager, entity: PersonRecord.self, predicate: NSPredicate(format: "age > 66"), values: ["works": false])
/// ```
///
/// The result is the number of records. Validation is not run.
open class BatchUpdateOperation<Record: DataRecord>: DataOperation<Int>, @unchecked Sendable {
    // @unchecked Sendable: like its superclass; the predicate and the values do not change.
    private let predicate: NSPredicate?
    private let values: [AnyHashable: Any]

    /// An update.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - entity: the record type.
    ///   - predicate: the condition on the records; nil for all.
    ///   - values: the new values by property, or expressions.
    public init(manager: PersistenceManager, entity: Record.Type, predicate: NSPredicate? = nil, values: [String: Any])
    {
        self.predicate = predicate
        self.values = values
        super.init(manager: manager)
    }

    override var isDoneAtOnce: Bool { true }

    /// Runs the statement.
    ///
    /// - Parameter context: the context whose store is changed.
    /// - Returns: the number of records.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `UPDATE Z<ENTITY> SET <property> = ?, … WHERE <predicate>`
    open override func performWork(in context: NSManagedObjectContext) throws -> Int {
        let request = NSBatchUpdateRequest(entityName: try Record.checkedEntityName(in: context))
        request.predicate = predicate
        request.propertiesToUpdate = values
        request.resultType = .updatedObjectIDsResultType
        let updated = try context.inRoot { root in
            let result = try root.execute(request) as? NSBatchUpdateResult
            return result?.result as? [NSManagedObjectID] ?? []
        }
        manager.notifyContexts(updated: updated)
        return updated.count
    }
}

/// Deletes many records in one statement, without loading them. The manager's lasting contexts merge the deletions.
///
/// ```swift
/// let forgetting = BatchDeleteOperation(manager: manager, entity: LogRecord.self, predicate: NSPredicate(format: "date < %@", day))
/// ```
///
/// The result is the number of records.
open class BatchDeleteOperation<Record: DataRecord>: DataOperation<Int>, @unchecked Sendable {
    // @unchecked Sendable: like its superclass; the predicate does not change.
    private let predicate: NSPredicate?

    /// A deletion.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - entity: the record type.
    ///   - predicate: the condition on the records; nil for all.
    public init(manager: PersistenceManager, entity: Record.Type, predicate: NSPredicate? = nil) {
        self.predicate = predicate
        super.init(manager: manager)
    }

    override var isDoneAtOnce: Bool { true }

    /// Runs the statement.
    ///
    /// - Parameter context: the context whose store is changed.
    /// - Returns: the number of records.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `DELETE FROM Z<ENTITY> WHERE <predicate>`
    open override func performWork(in context: NSManagedObjectContext) throws -> Int {
        let selection = RecordSelection(predicate: predicate)
        let deleted = try context.inRoot { try Record.deleteBatch(selection, in: $0) }
        manager.notifyContexts(deleted: deleted)
        return deleted.count
    }
}

extension NSManagedObjectContext {
    /// Runs work on the queue of the topmost context, whose requests go to the store.
    fileprivate func inRoot<Result>(_ work: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
        var root = self
        while let parent = root.parent { root = parent }
        return try root.performAndWait { try work(root) }
    }
}
