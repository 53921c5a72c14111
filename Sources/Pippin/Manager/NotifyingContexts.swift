package import CoreData

// Contexts are not notified of batch requests by themselves.
extension PersistenceManager {
    /// Notifies the manager's lasting contexts, each on its queue. Later work in a context finds the changes merged.
    package func notifyContexts(ofDeleted deleted: [NSManagedObjectID]) { notifyContexts(NSDeletedObjectsKey, deleted) }

    /// Notifies the manager's lasting contexts, each on its queue.
    package func notifyContexts(ofUpdated updated: [NSManagedObjectID]) { notifyContexts(NSUpdatedObjectsKey, updated) }

    private func notifyContexts(_ key: String, _ identifiers: [NSManagedObjectID]) {
        for context in stayingContexts {
            let isOnQueue = context.concurrencyType == .mainQueueConcurrencyType && MainQueue.isCurrent
            // Without waiting: a queue that waits for this one would wait for ever.
            if isOnQueue {
                context.merge(key, identifiers)
            } else {
                context.perform { context.merge(key, identifiers) }
            }
        }
    }
}

extension NSManagedObjectContext {
    /// Merges changes that were made in the store.
    package func merge(_ key: String, _ identifiers: [NSManagedObjectID]) {
        let changes: [AnyHashable: Any] = [key: identifiers]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [self])
    }
}
