import CoreData

extension PersistenceManager {
    /// Closes the store and deletes its files, with everything that was saved. `load()` makes a new one.
    ///
    /// Managed objects that are still in use become invalid. The main context is emptied. Observations end with
    /// ``PersistenceError/Code/notLoaded``; use `startOver()` for observations to continue with a new store.
    ///
    /// - Throws: ``PersistenceError/Code/notLoaded``, and Core Data's errors. A store that could not be destroyed is opened
    ///   by the next use.
    public func destroy() async throws { try await destroyStores(thenOpening: false) }

    /// Deletes everything that was saved, and begins with an empty store. Observations continue with it.
    ///
    /// - Throws: what `destroy()` and `load()` throw. Observations end then.
    public func startOver() async throws { try await destroyStores(thenOpening: true) }

    private func destroyStores(thenOpening opens: Bool) async throws {
        try requireOpen()
        // A task that is cancelled in between must not leave a manager without a store.
        let outcome = try await writes.async { () -> Result<Void, any Error> in
            // What others begin meanwhile waits until this is done.
            let outcome = self.opening.withLock { _ in
                Result {
                    try self.requireOpen()
                    self.isStartingOver.withLock { $0 = opens }
                    defer { self.isStartingOver.withLock { $0 = false } }
                    try self.destroyStores()
                    guard opens else { return }
                    try self.openNow(nil, nil)
                    self.state.withLock { $0 = .loaded }
                }
            }
            // Observations read, find no store, and end.
            if !self.isOpen {
                NotificationCenter.default.post(
                    name: SaveSignals.managerDidDestroy, object: self.container.persistentStoreCoordinator)
            }
            return outcome
        }
        try outcome.get()
    }

    private func destroyStores() throws {
        let coordinator = container.persistentStoreCoordinator
        let stores = coordinator.persistentStores
        // A store that cannot be destroyed is opened by the next use.
        state.withLock { $0 = .unloaded }
        closings.withLock { $0 += 1 }
        // Observers hear of it, and must not wait for this.
        openingThread.withLock { $0 = Thread.current }
        defer { openingThread.withLock { $0 = nil } }
        for context in stayingContexts { context.perform { context.reset() } }
        for store in stores { try coordinator.remove(store) }
        // One in memory is gone.
        for store in stores where store.type != NSInMemoryStoreType {
            guard let url = store.url else { continue }
            try coordinator.destroyPersistentStore(at: url, ofType: store.type, options: store.options)
        }
        wasDestroyed.withLock { $0 = true }
    }
}
