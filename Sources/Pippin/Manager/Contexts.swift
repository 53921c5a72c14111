import CoreData

extension PersistenceManager {
    /// The main thread's context, for reading. It merges what the workers save.
    public var mainContext: NSManagedObjectContext { container.viewContext }

    /// A new context with a queue of its own, for a short piece of work: change, save, let go.
    public var workerContext: NSManagedObjectContext {
        let context = container.newBackgroundContext()
        context.mergePolicy = contextPolicy
        return context
    }

    /// The current thread's context, for reading: the main context on the main thread and queue, elsewhere one that is made the first
    /// time and kept as long as the thread.
    public func contextForThread() -> NSManagedObjectContext {
        guard !MainQueue.isCurrent else { return mainContext }
        return threadContexts.current {
            let context = workerContext
            context.automaticallyMergesChangesFromParent = true
            return context
        }
    }

    /// The contexts that outlive the work that is done in them.
    var stayingContexts: [NSManagedObjectContext] { [mainContext] + threadContexts.all + backgroundContexts.all }

    func configureMainContext() {
        mainContext.mergePolicy = contextPolicy
        mainContext.automaticallyMergesChangesFromParent = true
    }
}
