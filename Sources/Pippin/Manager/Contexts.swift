package import CoreData

extension PersistenceManager {
    /// A new context with a queue of its own, for a short piece of work: change, save, let go.
    package func makeWorker() -> NSManagedObjectContext {
        let context = container.newBackgroundContext()
        context.mergePolicy = contextPolicy
        return context
    }

    /// The contexts that outlive the work that is done in them.
    var stayingContexts: [NSManagedObjectContext] {
        [container.viewContext] + threadContexts.all + backgroundContexts.all
    }

    func configureMainContext() {
        container.viewContext.mergePolicy = contextPolicy
        container.viewContext.automaticallyMergesChangesFromParent = true
    }
}
