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
        [container.viewContext] + threadContexts.all + backgroundContexts.all
    }

    func configureMainContext() {
        container.viewContext.mergePolicy = contextPolicy
        container.viewContext.automaticallyMergesChangesFromParent = true
    }
}
