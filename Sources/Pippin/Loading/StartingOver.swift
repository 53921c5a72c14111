import CoreData

extension PersistenceManager {
    /// Closes the store and removes everything that was saved, also from a store that cannot be opened, since the models
    /// do not fit it. `load()` makes a new one.
    ///
    /// An empty database stays in the place of an SQLite file, since another program may have it open. Managed objects that
    /// are still in use become invalid. The main context is emptied. Observations end with
    /// ``PersistenceError/Code/notLoaded``; use `startOver()` for observations to continue with a new store.
    ///
    /// - Throws: ``PersistenceError/Code/notLoaded`` if the store was destroyed already, and Core Data's errors, such as
    ///   those for a file that is not a database. A store that could not be destroyed is opened by the next use.
    public func destroy() async throws { try await destroyStores(thenOpening: false) }

    /// Deletes everything that was saved, and begins with an empty store. Observations continue with it. A store that cannot
    /// be opened, or was destroyed, begins anew as well.
    ///
    /// - Throws: what `destroy()` throws for a store that is still there, and what `load()` throws. Observations end then.
    public func startOver() async throws { try await destroyStores(thenOpening: true) }

    private func destroyStores(thenOpening opens: Bool) async throws {
        try refuseWhileOpening()
        // A task that is cancelled in between must not leave a manager without a store.
        let outcome = try await writes.async { () -> Result<Void, any Error> in
            // Work that others begin meanwhile waits until this is done.
            let outcome = self.opening.withLock { _ in
                Result {
                    if !opens { try self.refuseOpeningAgain() }
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
        var destroyed: [(url: URL?, type: String, options: [AnyHashable: Any]?)] = []
        if stores.isEmpty {
            try creation.check(wasDestroyed: wasDestroyed.withLock { $0 })
            destroyed = container.persistentStoreDescriptions.map { ($0.url, $0.type, $0.options) }
        } else {
            destroyed = stores.map { ($0.url, $0.type, $0.options) }
        }
        // A store that cannot be destroyed is opened by the next use.
        state.withLock { $0 = .unloaded }
        closings.withLock { $0 += 1 }
        // Observers hear of it, and must not wait for this.
        openingThread.withLock { $0 = Thread.current }
        defer { openingThread.withLock { $0 = nil } }
        for context in stayingContexts { context.perform { context.reset() } }
        for store in stores { try coordinator.remove(store) }
        // One in memory is gone.
        for case (let url?, let type, let options) in destroyed where type != NSInMemoryStoreType {
            try coordinator.destroyPersistentStore(at: url, ofType: type, options: options)
        }
        wasDestroyed.withLock { $0 = true }
    }
}
