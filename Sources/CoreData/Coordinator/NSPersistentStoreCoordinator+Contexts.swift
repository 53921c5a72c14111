// The contexts that use the coordinator, and what is saved for them to merge.
extension NSPersistentStoreCoordinator {
    func remember(_ context: ObjectTable) { withLock { contexts.append(context) } }

    func forget(_ context: ObjectTable) { withLock { contexts.removeAll { $0 === context } } }

    /// Informs the other automatically merging contexts of a context's save.
    ///
    /// - Returns: these contexts, each of which merges on its own queue.
    func announce(from saver: NSManagedObjectContext, _ changes: () -> SavedChanges) -> [NSManagedObjectContext] {
        let listeners = withLock { contexts.compactMap(\.context) }.filter {
            $0 !== saver && $0.automaticallyMergesChangesFromParent && $0.needsMerges
        }
        guard !listeners.isEmpty else { return [] }
        let changes = changes()
        for context in listeners { context.mergeSoon(changes) }
        return listeners
    }
}
