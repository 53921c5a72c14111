package import CoreData

extension PersistenceManager {
    /// A new context with a queue of its own, for short work: change, save, release.
    package func makeWorker() -> NSManagedObjectContext {
        let context = container.newBackgroundContext()
        context.mergePolicy = contextPolicy
        return context
    }

    /// The contexts that are kept beyond a single piece of work.
    var stayingContexts: [NSManagedObjectContext] {
        (madeContainer.withLock { $0 }.map { [$0.viewContext] } ?? []) + threadContexts.all + backgroundContexts.all
    }

    /// Empties the contexts that are kept, each on its queue.
    func resetContexts() {
        for context in stayingContexts { context.perform { context.reset() } }
    }

    /// A new context that reads a state of the store.
    func makeReader(of scope: ReadScope) throws -> NSManagedObjectContext {
        let context = makeWorker()
        try context.read(in: scope)
        return context
    }

    /// Configures the main context, if there is one.
    func configureMainContext() {
        if let container = madeContainer.withLock({ $0 }) { configure(container.viewContext) }
    }

    func configure(_ mainContext: NSManagedObjectContext) {
        mainContext.mergePolicy = contextPolicy
        mainContext.automaticallyMergesChangesFromParent = true
    }
}

/// The turn of a block that writes: its transaction, and a context for what rows cannot do, which is made when it is
/// first needed. The block's code has the context as if it ran on the context's queue.
package final class WriteTurn {
    let transaction: OptimisticTransaction
    private let manager: PersistenceManager
    private let held: HeldQueues
    /// The context, if it was needed.
    private(set) var madeContext: NSManagedObjectContext?

    init(_ manager: PersistenceManager, _ transaction: OptimisticTransaction) {
        (self.manager, self.transaction) = (manager, transaction)
        held = HeldQueues(ObjectIdentifier(transaction), and: HeldQueues.current)
    }

    /// Runs the block.
    func run<Result>(_ work: (WriteTurn) throws -> Result) throws -> Result {
        defer { madeContext?.giveBackQueue() }
        return try held.run { try work(self) }
    }

    /// The context, which reads and saves in the transaction.
    package func context() -> NSManagedObjectContext {
        if let madeContext { return madeContext }
        let context = manager.makeWorker()
        context.join(transaction)
        context.lendQueue(to: held)
        madeContext = context
        return context
    }
}
