import CoreData
import Pippin

extension PersistenceManager {
    /// The main thread's context, for reading. It merges what the workers save.
    public var mainContext: NSManagedObjectContext { container.viewContext }

    /// A new context with a queue of its own, for a short piece of work: change, save, let go.
    ///
    /// - Returns: a context that nobody else has, and that hears of no other's saves.
    public func newWorkerContext() -> NSManagedObjectContext { makeWorker() }

    /// The current thread's context, for reading: the main context on the main thread and queue, elsewhere one that is made the first
    /// time and kept as long as the thread.
    ///
    /// - Returns: the context, which merges what others save.
    public func contextForThread() -> NSManagedObjectContext {
        guard !MainQueue.isCurrent else { return mainContext }
        return threadContexts.current {
            let context = makeWorker()
            context.automaticallyMergesChangesFromParent = true
            return context
        }
    }
}
