import CoreData

extension PersistenceManager {
    /// Closes the store and deletes its files, with everything that was saved. `load()` makes a new one.
    ///
    /// Managed objects that are still in use become invalid. The main context is emptied. Observations end with
    /// ``PersistenceError/Code/notLoaded``; use `startOver()` for observations to continue with a new store.
    ///
    /// - Throws: ``PersistenceError/Code/notLoaded``, and Core Data's errors.
    public func destroy() async throws {
        try requireOpen()
        try await writes.async { try self.destroyStores() }
        endObservations()
    }

    /// Deletes everything that was saved, and begins with an empty store. Observations continue with it.
    ///
    /// - Throws: what `destroy()` and `load()` throw. Observations end then.
    public func startOver() async throws {
        // A task that is cancelled in between must not leave a manager without a store.
        let failure = try await writes.async { () -> (any Error)? in
            // What others begin meanwhile waits for the new store.
            try self.opening.withLock { _ in
                try self.requireOpen()
                self.isStartingOver.withLock { $0 = true }
                defer { self.isStartingOver.withLock { $0 = false } }
                do {
                    try self.destroyStores()
                    try self.openNow(nil, nil)
                    self.state.withLock { $0 = .loaded }
                    return nil
                } catch {
                    return error
                }
            }
        }
        guard let failure else { return }
        endObservations()
        throw failure
    }

    /// Makes the observations read, so that they find the store gone and end.
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
            // This ends a store that is in memory only.
            if let url, type != NSInMemoryStoreType {
                try coordinator.destroyPersistentStore(at: url, ofType: type)
            }
        }
        wasDestroyed.withLock { $0 = true }
        state.withLock { $0 = .unloaded }
    }
}
