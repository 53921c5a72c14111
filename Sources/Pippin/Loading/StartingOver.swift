import StoreSession

extension PersistenceManager {
    /// Closes the store and removes everything that was saved, also from a store that cannot be opened, since the
    /// models do not fit it. `load()` makes a new one.
    ///
    /// An empty database stays in the place of an SQLite file, since another program may have it open. Managed objects
    /// that are still in use become invalid. The main context is emptied. Observations end with
    /// ``PersistenceError/Code/notLoaded``; use `startOver()` for observations to continue with a new store.
    ///
    /// - Throws: ``PersistenceError/Code/notLoaded`` if the store was destroyed already, and
    ///   ``PersistenceError/Code/notOpened``, with Core Data's error as its ``PersistenceError/underlying``, for a file
    ///   that is not a database, or is locked. A store that could not be destroyed is opened by the next use. If the
    ///   container describes several stores, the error names those that are destroyed already.
    public func destroy() async throws { try await destroyStores(startingOver: false) }

    /// Deletes everything that was saved, and begins with an empty store. Observations continue with it. A store that
    /// cannot be opened, or was destroyed, begins anew as well.
    ///
    /// - Throws: what `destroy()` throws for a store that is still there, and what `load()` throws. Observations end
    ///   then.
    public func startOver() async throws { try await destroyStores(startingOver: true) }

    private func destroyStores(startingOver startsOver: Bool) async throws {
        try refuseWhileOpening()
        // A task that is cancelled in between must not leave a manager without a store.
        let outcome = try await writes.async { () -> Result<Void, any Error> in
            // Work that others begin meanwhile waits until this is done.
            let outcome = self.opening.withLock { _ in
                Result {
                    try self.destroyStores(startsOver)
                    if startsOver { try self.finishOpening(.load) { try self.openStores(migratingBy: nil, nil) } }
                }
            }
            // Observations read, find no store, and end.
            if !self.isOpen { self.saveSignals.signalAll() }
            return outcome
        }
        try outcome.get()
    }

    /// Destroys the stores. The caller holds `opening`, and opens new ones if it starts over.
    private func destroyStores(_ startsOver: Bool) throws {
        let destroying = try nextStep { try $0.destroying(on: .current, startsOver: startsOver) }
        let stores = session.openStores
        if stores.isEmpty { try creation.check(wasDestroyed: lifecycle.withLock { $0.isDestroyed }) }
        var places: [(url: URL?, type: String, options: [AnyHashable: Any]?)] = stores.map {
            ($0.url, $0.type, $0.facts.options)
        }
        // A description that was added since has no open store yet, and would bring what it leads to into the new one.
        for description in session.descriptions
        where !places.contains(where: { description.leadsTo($0.url, $0.type, $0.options) }) {
            places.append((description.url, description.type, description.options))
        }
        // Observers hear of what follows, and must not wait for this. A store that cannot be destroyed is opened by the
        // next use.
        try step { _ in destroying }
        do {
            resetContexts()
            try PersistenceError.explaining(.notOpened) {
                for store in stores { try session.remove(store) }
            }
            // One in memory is gone. A file that is no database may be somebody else's, and stays.
            var gone: [String] = []
            for case (let url?, let type, let options) in places where type != NSInMemoryStoreType {
                var options = options ?? [:]
                if options[NSPersistentStoreForceDestroyOption] == nil {
                    options[NSPersistentStoreForceDestroyOption] = false
                }
                do { try session.destroy(at: url, ofType: type, options: options) } catch {
                    throw PersistenceError.explained(error, destroyed: gone)
                }
                gone.append(url.lastPathComponent)
            }
        } catch {
            try step { $0.failed() }
            throw error
        }
        try step { $0.destroyed() }
    }
}

extension NSPersistentStoreDescription {
    /// Whether the description is of the store at a place. Two schemas of one database have one URL.
    fileprivate func leadsTo(_ place: URL?, _ placeType: String, _ placeOptions: [AnyHashable: Any]?) -> Bool {
        guard let url, let place else { return false }
        if type == placeType, let format = StoreFormats.migratable(ofType: type) {
            return format.areOneStore(url, options, place, placeOptions)
        }
        return url.standardizedFileURL == place.standardizedFileURL
    }
}
