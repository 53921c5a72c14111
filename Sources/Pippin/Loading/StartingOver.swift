import CoreData

extension PersistenceManager {
    /// Closes the store and takes its files away, with everything that was saved. `load()` makes a new one.
    ///
    /// Objects that are still in hand are of no more use. The main context is emptied. Observations end with
    /// ``PersistenceError/Code/notLoaded``; those that are to go on with a new store are for `startOver()`.
    ///
    /// - Throws: ``PersistenceError/Code/notLoaded``, and Core Data's errors.
    public func destroy() async throws {
        try requireOpen()
        try await writes.async { try self.destroyStores() }
        endObservations()
    }

    /// Takes everything away that was saved, and begins with an empty store. Observations go on with it.
    ///
    /// - Throws: what `destroy()` and `load()` throw. Observations end then.
    public func startOver() async throws {
        try requireOpen()
        isStartingOver.withLock { $0 = true }
        do {
            try await writes.async { try self.destroyStores() }
            try await load()
            isStartingOver.withLock { $0 = false }
        } catch {
            isStartingOver.withLock { $0 = false }
            endObservations()
            throw error
        }
    }

    /// Has those who observe look, and find that there is nothing to be seen any more.
    private func endObservations() {
        NotificationCenter.default.post(
            name: SaveSignals.managerDidDestroy, object: container.persistentStoreCoordinator)
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
        wasDestroyed.withLock { $0 = true }
        state.withLock { $0 = .unloaded }
    }
}
