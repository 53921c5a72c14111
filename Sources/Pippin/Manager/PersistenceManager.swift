import Foundation
package import StoreSession

/// A store of structs, which can be saved, fetched, observed and deleted.
///
/// Make one when the program starts, and pass it to the code that needs it.
///
/// ```swift
/// let manager = PersistenceManager(models: Book.self)
/// try await manager.save(books)
/// let cheap = try await manager.fetch(Book.self, where: \.price < 20, sortedBy: .ascending(\.title))
/// ```
///
/// Each method of the manager does one thing; a block does several, on one state of the store or all or nothing:
/// ``read(_:)`` and ``write(onConflict:_:)``, or ``readAndWait(_:)`` and ``writeAndWait(onConflict:_:)`` for programs
/// without concurrency. Blocks that write run one after the other.
public final class PersistenceManager: Sendable {
    /// The manager's name, which is also the default store's.
    public let name: String

    /// The managed objects of the store, made when they are first needed.
    package let madeObjects = Locked<(any ManagerObjects)?>(nil)
    /// The contexts that are kept beyond a single piece of work; nil in a program that has asked for none.
    package let keptContexts = Locked<(any KeptContexts)?>(nil)
    /// The store.
    package let session: StoreSession

    /// How contexts that the manager hands out settle conflicts.
    package let mergePolicyOfObjects: ObjectMergePolicy

    /// Whether the store is open, and whether a thread opens or destroys it.
    let lifecycle = Locked(StoreLifecycle())
    /// Held while the store is opened or destroyed.
    let opening = Locked(())
    /// Opens the stores at the first use. The layer above, which can migrate them, provides it.
    let openAtFirstUse: @Sendable (PersistenceManager) throws -> Void
    package let writes = WriteQueue()
    let saveSignals = SaveSignals()
    let sharedReadings = SharedReadings()
    let workDurations = WorkDurations()
    /// The store's rows.
    let storeRows: StoreRows
    /// The entities that were derived from models.
    package let registry: ModelRegistry
    /// The model of the program alone. The session's model may have more, which the store has in addition.
    let programModel: NSManagedObjectModel
    /// Whether the store may be created.
    let creation: CreationCheck
    private let modelFailure: PersistenceError?

    init(
        _ source: ModelSource, name: String, mergePolicy: ObjectMergePolicy, store location: StoreLocation,
        registry: ModelRegistry, openAtFirstUse: @escaping @Sendable (PersistenceManager) throws -> Void
    ) {
        self.name = name
        self.registry = registry
        self.openAtFirstUse = openAtFirstUse
        mergePolicyOfObjects = mergePolicy
        let model: NSManagedObjectModel
        do {
            model = try source.model()
            modelFailure = nil
        } catch {
            // Kept for `load`, which can throw it. Until then the session has an empty model.
            model = NSManagedObjectModel()
            modelFailure = error as? PersistenceError ?? .modelNotFound(name: name, bundle: "\(error)")
        }
        programModel = model
        creation = CreationCheck(location)
        session = StoreSession(model)
        session.descriptions = [location.makeDescription() ?? NSPersistentStoreDescription(named: name)]
        for description in session.descriptions { description.announceChanges() }
        storeRows = StoreRows(session)
    }

    /// The model; throws if there is none.
    package func checkedModel() throws -> NSManagedObjectModel {
        if let modelFailure { throw modelFailure }
        return programModel
    }
}

/// The managed objects of a manager's store: what makes contexts of it.
package protocol ManagerObjects: AnyObject, Sendable {
    /// The objects of a new context for a block that writes, which reads and saves in its transaction.
    func source(for turn: WriteTurn) -> any ObjectSource
}

/// How contexts settle conflicts, by Core Data's names.
package enum ObjectMergePolicy: Sendable {
    case error, rollback, overwrite, mergeByPropertyObjectTrump, mergeByPropertyStoreTrump
    /// A policy of the program's own.
    case own(any AnyObject & Sendable)
}

/// The contexts that a program keeps beyond a single piece of work. They hear of what happens without objects.
package protocol KeptContexts: AnyObject, Sendable {
    /// The store is about to be closed or destroyed.
    func reset()

    /// Rows were updated or deleted. Later work in a context finds the changes merged.
    func merge(updated: [NSManagedObjectID], deleted: [NSManagedObjectID])
}

extension PersistenceManager {
    /// Empties the contexts that are kept, each on its queue.
    func resetContexts() { keptContexts.withLock { $0 }?.reset() }

    /// Notifies the contexts that are kept, each on its queue: they are not notified of batch requests by themselves.
    package func notifyContexts(updated: [NSManagedObjectID] = [], deleted: [NSManagedObjectID] = []) {
        keptContexts.withLock { $0 }?.merge(updated: updated, deleted: deleted)
    }
}

/// Runs one write at a time. Between looking a record up and inserting it, no other write of the manager can intervene.
package final class WriteQueue: Sendable {
    private let queue = DispatchQueue(label: "Pippin.writes")
    /// Held by the write whose turn it is.
    private let turn = NSLock()
    /// How many writes the queue has, the running one included.
    private let queued = Locked(0)

    /// The queues that are running the write which contains the current code: a write within a write need not wait.
    @TaskLocal private static var entered: Set<ObjectIdentifier> = []

    package func sync<Result>(_ work: () throws -> Result) rethrows -> Result {
        guard !Self.entered.contains(ObjectIdentifier(self)) else { return try work() }
        queued.withLock { $0 += 1 }
        defer { queued.withLock { $0 -= 1 } }
        return try MainQueue.waiting(for: queue) { try inTurn(work) }
    }

    package func async<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        queued.withLock { $0 += 1 }
        defer { queued.withLock { $0 -= 1 } }
        return try await Cancellation.running(on: queue) { try self.inTurn(work) }
    }

    /// Runs work of the queue.
    private func inTurn<Result>(_ work: () throws -> Result) rethrows -> Result {
        turn.lock()
        defer { turn.unlock() }
        return try work()
    }

    /// Runs work on this thread where no other write runs or waits.
    ///
    /// - Returns: what the work returns; nil where it was not run.
    package func runIfFree<Result>(_ work: () throws -> Result) rethrows -> Result? {
        guard queued.withLock({ $0 == 0 }), turn.try() else { return nil }
        defer { turn.unlock() }
        return try work()
    }

    /// Marks `work` as a part of this queue's write, on any thread.
    package func entering<Result>(_ work: () throws -> Result) rethrows -> Result {
        try Self.$entered.withValue(Self.entered.union([ObjectIdentifier(self)]), operation: work)
    }
}

// Where work runs.
extension PersistenceManager {
    /// Runs work in a transaction of its own, one at a time with the manager's other writes, and saves its changes.
    package func inSavedTransaction<Result>(
        _ policy: WriteConflictPolicy = .retry, _ work: (WriteTurn) throws -> Result
    ) throws -> Result {
        try openIfNeeded()
        return try writes.sync { try inTransaction(policy) { try saving($0, work) } }
    }

    /// Runs work in a transaction of its own, as the blocking method does, off the calling thread.
    package func inSavedTransaction<Result: Sendable>(
        _ policy: WriteConflictPolicy = .retry,
        _ work: @escaping @Sendable (WriteTurn) throws -> Result
    ) async throws -> Result {
        try await openIfNeeded()
        return try await writes.async {
            try self.inTransaction(policy) { turn in try self.saving(turn, work) }
        }
    }

    /// Runs a small change in a transaction of its own: on the thread of the task that awaits it where nothing has to
    /// be waited for, else as ``inSavedTransaction(_:_:)`` does.
    ///
    /// - Parameters:
    ///   - kind: foresees whether the work is short.
    ///   - work: changes what its turn gives it. The second argument says whether it must be short: it throws
    ///     `WorkDurations.TooMuch` if it is not, and is done again where it may take long.
    /// - Returns: what the work returns.
    /// - Throws: what the work and its save throw.
    func inBriefTransaction<Result: Sendable>(
        _ kind: WorkKind, _ work: @escaping @Sendable (WriteTurn, Bool) throws -> Result
    ) async throws -> Result {
        try await openIfNeeded()
        if let done = try changeAtOnce(kind, { turn in try self.saving(turn) { try work($0, true) } }) {
            return done
        }
        return try await inSavedTransaction(.retry) { turn in
            try self.workDurations.timing(kind) { try work(turn, false) }
        }
    }

    private func saving<Result>(_ turn: WriteTurn, _ work: (WriteTurn) throws -> Result) throws -> Result {
        let result = try work(turn)
        try turn.save()
        return result
    }

    /// Runs blocking work on a thread that tasks do not share.
    package func offThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await Cancellation.running(on: DispatchQueue.global(), work)
    }
}

// The first caller opens the store, and the others wait.
extension PersistenceManager {
    /// Opens the store unless it is open.
    ///
    /// - Throws: ``PersistenceError/Code/notLoaded`` for a store that was destroyed,
    ///   ``PersistenceError/Code/closed`` for one that was closed, and what `load()` throws.
    package func openIfNeeded() throws {
        if isOpen { return }
        try refuseWhileOpening()
        // While the manager starts over, this waits for the new store.
        try opening.withLock { _ in
            let next = try step { try $0.opening(on: .current) }
            if !next.isOpen { try finishOpening(.use) { try openAtFirstUse(self) } }
        }
    }

    /// Opens the store unless it is open, off the calling thread; a task that is cancelled begins nothing.
    package func openIfNeeded() async throws {
        try Task.checkCancellation()
        if isOpen { return }
        try await offThread { try self.openIfNeeded() }
    }

    package var isOpen: Bool { lifecycle.withLock { $0.isOpen } }

    /// Opens the store unless it is open.
    ///
    /// - Returns: how often it was closed before.
    /// - Throws: what opening it throws.
    func closingsWhileOpen() throws -> Int {
        let found = lifecycle.withLock { $0 }
        // Whether the store is closed before or after it is opened here: the count differs afterwards.
        if !found.isOpen { try openIfNeeded() }
        return found.closings
    }

    /// Whether the store is open and was not closed since the count was read.
    ///
    /// - Parameter count: the result of `closingsWhileOpen()`.
    /// - Returns: whether it stayed open.
    func hasStayedOpen(since count: Int) -> Bool { lifecycle.withLock { $0.isOpen && $0.closings == count } }

    /// Refuses what a closure of a migration plan, or an observer, does with the manager while its thread opens or
    /// destroys the store, and what an observer does while the store is closed for good: it would wait for itself.
    func refuseWhileOpening() throws {
        let life = lifecycle.withLock { $0 }
        if life.isInProgress(on: .current) { throw error(for: .inProgress) }
        if life.hasEnded { throw error(for: .ended) }
    }

    /// Takes a step of the store's life cycle. The caller holds `opening`.
    ///
    /// - Parameter step: the step.
    /// - Returns: the life cycle after the step.
    /// - Throws: the refusal of the step, as a ``PersistenceError``. Nothing has changed then.
    @discardableResult
    func step(_ step: (StoreLifecycle) throws -> StoreLifecycle) throws -> StoreLifecycle {
        let next = try nextStep(step)
        lifecycle.withLock { $0 = next }
        return next
    }

    /// The life cycle after a step, which is not taken yet. The caller holds `opening`.
    func nextStep(_ step: (StoreLifecycle) throws -> StoreLifecycle) throws -> StoreLifecycle {
        do { return try step(lifecycle.withLock { $0 }) } catch let refusal as StoreLifecycle.Refusal {
            throw error(for: refusal)
        }
    }

    /// Opens the stores of a manager that has begun to open them. The caller holds `opening`.
    ///
    /// - Parameters:
    ///   - opener: what opens them.
    ///   - work: opens them.
    /// - Throws: the error for a model that is missing, and what the work throws.
    func finishOpening(_ opener: StoreLifecycle.Opener, _ work: () throws -> Void) throws {
        do {
            _ = try checkedModel()
            try work()
        } catch {
            try step { $0.failed() }
            throw error
        }
        // Observations read again: the store may be another one than before.
        saveSignals.signalAll()
        try step { $0.opened(by: opener) }
    }

    private func error(for refusal: StoreLifecycle.Refusal) -> PersistenceError {
        switch refusal {
        case .inProgress: .stillOpening(manager: name)
        case .destroyed: .notLoaded(manager: name)
        case .loaded: .alreadyLoaded(manager: name)
        case .ended: .closed(session.descriptions, manager: name)
        }
    }
}
