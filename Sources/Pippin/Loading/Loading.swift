import CompactCollections
import CoreData

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
            let state = state.withLock { $0 }
            if state == .loaded || state == .opened && plan != nil {
                throw PersistenceError.alreadyLoaded(manager: name)
            }
            if state == .unloaded { try openNow(plan, progress) }
            self.state.withLock { $0 = .loaded }
            progress?.completedUnitCount = progress?.totalUnitCount ?? 0
        }
    }

    /// Opens the store. The caller holds `opening`.
    func openNow(_ plan: MigrationPlan?, _ progress: Progress?) throws {
        openingThread.withLock { $0 = Thread.current }
        defer { openingThread.withLock { $0 = nil } }
        _ = try checkedModel()
        try openStores(plan, progress).get()
        configureMainContext()
        wasDestroyed.withLock { $0 = false }
        // Observations read again: the store may be another one than before.
        NotificationCenter.default.post(
            name: SaveSignals.managerDidLoad, object: container.persistentStoreCoordinator)
    }

    private func openStores(_ plan: MigrationPlan?, _ progress: Progress?) -> Result<Void, any Error> {
        if progress?.totalUnitCount ?? 0 <= 0 { progress?.totalUnitCount = 1 }
        do {
            try creation.check(wasDestroyed: wasDestroyed.withLock { $0 })
            if let plan { try migrate(by: plan, progress) }
        } catch { return .failure(PersistenceError.explained(error, .notOpened)) }
        for description in container.persistentStoreDescriptions { description.shouldAddStoreAsynchronously = false }
        do { try openReconciledStores() } catch { return .failure(explained(error)) }
        progress?.completedUnitCount = progress?.totalUnitCount ?? 0
        return .success(())
    }

    /// Opens the stores that the container describes, as Core Data does.
    func openContainer() throws {
        let failure = Locked<(any Error)?>(nil)
        // Synchronous, as set above: the handler has been called for every store when this returns.
        container.loadPersistentStores { _, error in
            if let error { failure.withLock { $0 = $0 ?? error } }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private func migrate(by plan: MigrationPlan, _ progress: Progress?) throws {
        let checked = try CheckedPlan(plan, endingAt: programModel, of: name)
        for description in container.persistentStoreDescriptions {
            guard description.isMigrated, let url = description.url else { continue }
            try MigrationRunner(
                plan: checked, type: description.type, url: url, options: description.options, progress: progress
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
