package import StoreSession

/// What a `write` does if others have saved to the store after its block read and before it is saved.
public enum WriteConflictPolicy: Sendable {
    /// Runs the block again, in a new context, on what is stored now.
    case retry
    /// Throws a ``PersistenceError`` with the code ``PersistenceError/Code/conflict``, so that the caller can decide.
    case fail
}

/// How often a write is attempted.
enum WriteAttempts {
    /// The attempts during which others may save: most blocks finish before another save.
    static let unhindered = 4
    /// The most attempts. During the later ones other programs wait until the block is done, so that only other saves
    /// of this program can interfere.
    static let limit = 16

    /// Waits a random time whose limit grows with each attempt, so that competing writers wait for different times.
    static func pause(after attempt: Int) { usleep(.random(in: 0..<(200 << UInt32(min(attempt, 7))))) }
}

extension PersistenceManager {
    /// Does work whose reads and saves are one transaction, and repeats it if others interfere.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    func inTransaction<Result>(
        _ policy: WriteConflictPolicy, _ work: (WriteTurn) throws -> Result
    ) throws -> Result {
        // The store may have been destroyed while this waited for its turn.
        try openIfNeeded()
        var attempt = 0
        while true {
            attempt += 1
            if attempt > 1 { try Cancellation.current?.check() }
            let transaction = OptimisticTransaction(session)
            defer { transaction.end() }
            if attempt > WriteAttempts.unhindered {
                try PersistenceError.explaining(.saveFailed) { try transaction.lockOutWriters() }
            }
            let outcome = Swift.Result { try perform(work, in: transaction) }
            // The block may have caught the error of a read that failed because the transaction is broken.
            guard transaction.isBroken else { return try outcome.get() }
            let conflict = OptimisticTransaction.conflict(session.openStores.first?.url)
            // The block's own saves must not be repeated.
            if transaction.hasSaved { throw PersistenceError(saving: conflict) }
            if policy == .fail || attempt == WriteAttempts.limit {
                throw PersistenceError(saving: conflict)
            }
            WriteAttempts.pause(after: attempt)
        }
    }

    /// Does work in a transaction during which others cannot save, on this thread, which tasks share: only where it
    /// need not wait. Going to another thread and back takes longer than a small save.
    ///
    /// - Returns: what the work returns; nil where it would have to wait, where such work takes long, or where
    ///   others came first: nothing is saved then.
    /// - Throws: what the work and its save throw.
    func changeAtOnce<Result>(
        _ kind: WorkKind, _ work: (WriteTurn) throws -> Result
    ) throws -> Result? {
        guard ThreadSharing.allowsWork, OptimisticTransaction.current == nil, workDurations.areShort(kind) else {
            return nil
        }
        let result: Result?? = try writes.runIfFree {
            let transaction = OptimisticTransaction(session)
            // An error here occurs again, and is reported, in the transaction that waits.
            guard (try? transaction.lockOutWritersUnlessBusy()) == true else { return nil }
            defer { transaction.end() }
            let outcome = Swift.Result { try workDurations.timing(kind) { try perform(work, in: transaction) } }
            if case .failure(is WorkDurations.TooMuch) = outcome {
                for _ in 0..<2 { workDurations.note(kind, .seconds(1)) }
                return nil
            }
            // Contexts of this program are not kept out.
            if transaction.isBroken, !transaction.hasSaved { return nil }
            return try outcome.get()
        }
        return result ?? nil
    }

    private func perform<Result>(
        _ work: (WriteTurn) throws -> Result, in transaction: OptimisticTransaction
    ) throws -> Result {
        try WriteTurn(self, transaction).run { turn in
            try writes.entering {
                try OptimisticTransaction.$current.withValue(transaction) { try work(turn) }
            }
        }
    }
}

extension PersistenceManager {
    /// Makes the managed objects of managers. A module with Core Data gives it.
    package static let makesObjects = Locked<(@Sendable (PersistenceManager) -> any ManagerObjects)?>(nil)

    /// The managed objects of the store, made when they are first needed.
    ///
    /// - Throws: ``PersistenceError/Code/notOpened`` where no module with Core Data takes part.
    package func objects() throws -> any ManagerObjects {
        if let made = madeObjects.withLock({ $0 }) { return made }
        guard let make = Self.makesObjects.withLock({ $0 }) else {
            throw PersistenceError(
                .notOpened,
                "The store keeps managed objects, or a model has objects of a class of its own, and these need Core Data. "
                    + "Import PippinRecords, and ask for the manager's `container` first.")
        }
        return make(self)
    }
}

/// The turn of a block that writes: its transaction, and a context for what rows cannot do, which is made when it is
/// first needed. The block's code has the context as if it ran on the context's queue.
package final class WriteTurn {
    package let transaction: OptimisticTransaction
    private let manager: PersistenceManager
    package let held: HeldQueues
    /// The objects of the context, if they were needed.
    private var madeObjects: (any ObjectSource)?

    init(_ manager: PersistenceManager, _ transaction: OptimisticTransaction) {
        (self.manager, self.transaction) = (manager, transaction)
        held = HeldQueues(ObjectIdentifier(transaction), and: HeldQueues.current)
    }

    /// Runs the block.
    func run<Result>(_ work: (WriteTurn) throws -> Result) throws -> Result {
        defer { madeObjects?.giveBack() }
        return try held.run { try work(self) }
    }

    /// Saves what has changed of the objects, if there are any.
    func save() throws { _ = try madeObjects?.save([]) }

    /// The objects of a context, which reads and saves in the transaction.
    package func objects() throws -> any ObjectSource {
        if let madeObjects { return madeObjects }
        let made = try manager.objects().source(for: self)
        madeObjects = made
        return made
    }
}

/// A kind of work, by which its duration is predicted: the models, and the type of the result.
struct WorkKind: Hashable {
    enum Verb { case question, change }

    let verb: Verb
    private let models: ObjectIdentifier
    private let result: ObjectIdentifier

    init(_ verb: Verb, of models: Any.Type, result: Any.Type) {
        self.verb = verb
        (self.models, self.result) = (ObjectIdentifier(models), ObjectIdentifier(result))
    }
}

/// Which kinds of work took long lately. These get a thread of their own; the others are done on the thread of the task
/// that waits for them, since going to another thread and back takes longer than they do.
final class WorkDurations: Sendable {
    /// Thrown by work that finds out that it would take long.
    struct TooMuch: Error {}

    /// Tasks that share the thread wait for so long at most, unless work takes longer for the first time.
    static let longest: Duration = .milliseconds(1)

    /// After work of a kind took long, this many runs in a row must be short before it runs on the task's thread again.
    /// The number doubles each time, so that a program with short and long reads of one kind blocks that thread ever
    /// less often.
    private static let fewest = 16
    private static let most = 4096

    private struct Trial {
        /// How much work in a row must be short before the kind counts as short.
        var needed = WorkDurations.fewest
        /// How much of it is left.
        var left = 0
        /// Whether the latest work was long.
        var wasLong = false
        /// Whether the kind has counted as long before.
        var hasBeenLong = false
    }

    /// The kinds that ever took long.
    private let trials = Locked<[WorkKind: Trial]>([:])

    /// Whether work of a kind is likely to be short.
    func areShort(_ kind: WorkKind) -> Bool {
        trials.withLock { $0.isEmpty || $0[kind].map { $0.left == 0 } ?? true }
    }

    /// Does work, and notes whether it took long.
    func timing<Result>(_ kind: WorkKind, _ work: () throws -> Result) rethrows -> Result {
        let start = ContinuousClock.now
        defer { note(kind, ContinuousClock.now - start) }
        return try work()
    }

    /// Notes how long some work took.
    func note(_ kind: WorkKind, _ time: Duration) {
        let isLong = time > Self.longest
        trials.withLock { trials in
            guard isLong || trials[kind] != nil else { return }
            var trial = trials[kind] ?? Trial()
            if !isLong {
                trial.left = max(0, trial.left - 1)
            } else if trial.left > 0 {
                trial.left = trial.needed
            } else if kind.verb == .question || trial.wasLong {
                // Any change may take long once, since a file's log is written back from time to time.
                if trial.hasBeenLong { trial.needed = min(2 * trial.needed, Self.most) }
                (trial.left, trial.hasBeenLong) = (trial.needed, true)
            }
            trial.wasLong = isLong
            trials[kind] = trial
        }
    }
}
