import CoreData
import Pippin

extension PersistenceManager {
    /// The main thread's context, for reading. It merges what the workers save.
    public var mainContext: NSManagedObjectContext { container.viewContext }

    /// A new context with a queue of its own, for short work: change, save, release.
    ///
    /// - Returns: a new context, which does not merge the saves of others.
    public func newWorkerContext() -> NSManagedObjectContext { makeWorker() }

    /// The current thread's context, for reading: the main context on the main thread and queue; elsewhere a context
    /// that is made at first use and kept as long as the thread.
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
