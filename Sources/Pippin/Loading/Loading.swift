import StoreSession

extension PersistenceManager {
    /// Opens the store, creating it if it is missing, and migrating it if the models have changed.
    ///
    /// ```swift
    /// let manager = PersistenceManager(models: Book.self)
    /// try await manager.load()
    /// ```
    ///
    /// Anything else that is done first opens the store as well. Call this when the program starts, to find out early
    /// that the store cannot be opened, or to migrate by a plan.
    ///
    /// - Parameters:
    ///   - plan: the way from former versions to the present one, if it cannot be inferred.
    ///   - progress: shows how far a migration has come.
    /// - Throws: ``PersistenceError``: ``PersistenceError/Code/wouldLose`` for a store with data that the models do not
    ///   name, ``PersistenceError/Code/schemaChanged``, ``PersistenceError/Code/notUnique``,
    ///   ``PersistenceError/Code/storeNotFound``, ``PersistenceError/Code/alreadyLoaded`` on the second call, and for a
    ///   plan that comes when the store is open already, the errors of the plan; and
    ///   ``PersistenceError/Code/notOpened``. The store is then unchanged.
    public func load(migratingBy plan: MigrationPlan? = nil, progress: Progress? = nil) async throws {
        // Opening may take seconds if a store is migrated, so it must not run on a thread that tasks share.
        try await offThread { try self.openExplicitly(plan, progress) }
    }

    package func openExplicitly(_ plan: MigrationPlan?, _ progress: Progress?) throws {
        try refuseWhileOpening()
        try opening.withLock { _ in
            let next = try step { try $0.loading(on: .current, migrates: plan != nil) }
            if !next.isOpen { try finishOpening(.load) { try openStores(migratingBy: plan, progress) } }
            progress?.completedUnitCount = progress?.totalUnitCount ?? 0
        }
    }

    /// Opens the stores. The caller has begun to open them; see `finishOpening(_:_:)`.
    func openStores(migratingBy plan: MigrationPlan?, _ progress: Progress?) throws {
        if progress?.totalUnitCount ?? 0 <= 0 { progress?.totalUnitCount = 1 }
        try PersistenceError.explaining(.notOpened) {
            try creation.check(wasDestroyed: lifecycle.withLock { $0.isDestroyed })
            if let plan { try migrate(by: plan, progress) }
        }
        for description in session.descriptions { description.shouldAddStoreAsynchronously = false }
        // A coordinator migrates records, and knows further types of stores. A manager without structs that nobody
        // makes objects for has a model that a store has itself, as the server of a sync does.
        if session.descriptions.contains(where: \.needsCoordinator)
            || registry.plans.isEmpty && Self.makesObjects.withLock({ $0 != nil })
        {
            _ = try objects()
        }
        do { try openReconciledStores() } catch { throw explained(error) }
        progress?.completedUnitCount = progress?.totalUnitCount ?? 0
    }

    /// Opens the stores of the descriptions.
    ///
    /// If one cannot be opened, none stays open: the next attempt opens all, and starting over destroys all.
    func openSession() throws {
        let former = session.openStores
        do {
            for description in session.descriptions { try session.open(description) }
            try session.trimHistories()
        } catch {
            for store in session.openStores where !former.contains(where: { $0 === store }) {
                try? session.remove(store)
            }
            throw error
        }
    }

    private func migrate(by plan: MigrationPlan, _ progress: Progress?) throws {
        let checked = try CheckedPlan(plan, endingAt: programModel, of: name)
        for description in session.descriptions {
            guard let format = description.migratableFormat, let url = description.url else { continue }
            try MigrationRunner(
                plan: checked, format: format, url: url, description: description, progress: progress
            ).run()
        }
    }

    /// An error of inference, reworded for structs.
    private func explained(_ error: any Error) -> any Error {
        guard !registry.plans.isEmpty else { return PersistenceError.explained(error, .notOpened) }
        var next: NSError? = error as NSError
        while let current = next {
            let info = current.userInfo
            if current.domain == NSCocoaErrorDomain, let entity = info["entity"] as? String,
                let reason = info["reason"] as? String
            {
                let property = ["property", "attribute", "relationship"].lazy.compactMap { info[$0] as? String }.first
                return PersistenceError.schemaChanged(entity: entity, property: property, reason: reason)
            }
            next = info[NSUnderlyingErrorKey] as? NSError
        }
        return PersistenceError.explained(error, .notOpened)
    }
}

extension PersistenceManager {
    /// Closes the store for good: what is left of this manager's use of it is ended, and its connections are closed. A
    /// store in memory is gone.
    ///
    /// ```swift
    /// await manager.close()
    /// ```
    ///
    /// Writes that were begun are finished first. Observations end without an error, and every later use throws
    /// ``PersistenceError/Code/closed``; a new manager opens the store again. An SQLite file then has everything that
    /// was saved by itself, without its log; a `read` block that still runs, or another program, may need the log a
    /// little longer. Managed objects that are still in use become invalid. Closing again does nothing. A task that is
    /// cancelled closes the store as well.
    ///
    /// A manager that is no longer used closes its store by itself; call this to know when.
    public func close() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                self.closeStores()
                continuation.resume()
            }
        }
    }

    private func closeStores() {
        // Writes that were begun are done by then, and so is a thread that opens the store.
        writes.sync {
            opening.withLock { _ in
                lifecycle.withLock { $0 = $0.ending() }
                resetContexts()
                // Fails only for a store that somebody has removed.
                for store in session.openStores { try? session.remove(store) }
            }
        }
        // Observations read, find the store closed, and end.
        saveSignals.signalAll()
    }
}

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
            // One in memory is gone. A file that is not a database may be somebody else's, and stays.
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
