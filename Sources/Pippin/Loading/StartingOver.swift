import CoreData

extension PersistenceManager {
    /// Closes the store and takes its files away, with everything that was saved. `load()` makes a new one.
    ///
    /// Objects that are still in hand are of no more use. The main context is emptied.
    ///
    /// - Throws: ``PersistenceError/notLoaded(manager:)``, and Core Data's errors.
    public func destroy() async throws {
        try requireLoaded()
        try await writes.async { try self.destroyStores() }
    }

    /// Closes the store and takes its files away, as the `async` form does, and waits for it.
    ///
    /// - Throws: what the `async` form throws.
    public func destroy() throws {
        try requireLoaded()
        try writes.sync { try destroyStores() }
    }

    /// Takes everything away that was saved, and begins with an empty store.
    ///
    /// - Throws: what `destroy()` and `load()` throw.
    public func startOver() async throws {
        try await destroy()
        try await load()
    }

    private func destroyStores() throws {
        let coordinator = container.persistentStoreCoordinator
        for context in stayingContexts { context.perform { context.reset() } }
        for store in coordinator.persistentStores {
            let (url, type) = (store.url, store.type)
            try coordinator.remove(store)
            // What is in memory only is gone by that.
            if let url, type != NSInMemoryStoreType {
                try coordinator.destroyPersistentStore(at: url, ofType: type)
            }
        }
        state.withLock { $0 = .unloaded }
    }
}
