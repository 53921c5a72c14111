import CompactCollections
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
        // A coordinator migrates records, and knows further types of stores.
        if registry.plans.isEmpty || session.descriptions.contains(where: \.needsCoordinator) { _ = container }
        do { try openReconciledStores() } catch { throw explained(error) }
        progress?.completedUnitCount = progress?.totalUnitCount ?? 0
    }

    /// Opens the stores of the descriptions.
    ///
    /// If one cannot be opened, none stays open: the next attempt opens all, and starting over destroys all.
    func openSession() throws {
        let former = session.openStores
        do { for description in session.descriptions { try session.open(description) } } catch {
            for store in session.openStores where !former.contains(where: { $0 === store }) {
                try? session.remove(store)
            }
            throw error
        }
    }

    private func migrate(by plan: MigrationPlan, _ progress: Progress?) throws {
        let checked = try CheckedPlan(plan, endingAt: programModel, of: name)
        for description in session.descriptions {
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
