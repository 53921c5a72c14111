import CoreData

extension PersistenceManager {
    /// Opens the store, or creates a missing one. Call it once, before anything else.
    ///
    /// A store of another version is migrated: by the plan, or else by inference. Inference by structs only adds: what a store has and the
    /// models do not is never dropped unasked. Entities that the models do not name are left alone, for other programs may use them;
    /// a property that the models' entities do not have any more, or whose type holds less, is an error that lists what would be lost and
    /// says what to write. A manager of a model file leaves it to Core Data, whose inference drops what the model does not have.
    ///
    /// - Parameters:
    ///   - plan: how stores of older versions get to this one.
    ///   - progress: tells how far the migration is, and cancels it; complete when the store is open.
    /// - Throws: ``PersistenceError/alreadyLoaded(manager:)`` the second time, ``PersistenceError/modelNotFound(name:bundle:)``
    ///   and its like where there is no model, ``PersistenceError/wouldLose(store:losses:)`` where the store has what the models would not keep,
    ///   ``PersistenceError/notUnique(store:entity:properties:examples:)`` where values are to be unique and are not,
    ///   ``PersistenceError/schemaChanged(entity:property:reason:)`` where the structs changed in a way that cannot be inferred,
    ///   ``PersistenceError/storeNotFound(path:)`` and ``PersistenceError/folderNotFound(path:)``, ``MigrationPlanError``, `CancellationError`, and Core Data's error where the store cannot be
    ///   opened. The store is as it was then, and `load` may be called again.
    public func load(migratingBy plan: MigrationPlan? = nil, progress: Progress? = nil) async throws {
        try beginLoading()
        // Opening may take seconds when a store is migrated: not on a thread that tasks share.
        let outcome = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(returning: self.openStores(plan, progress))
            }
        }
        try finishLoading(outcome)
    }

    /// Opens the store, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - plan: how stores of older versions get to this one.
    ///   - progress: tells how far the migration is, and cancels it; complete when the store is open.
    /// - Throws: what the `async` form throws.
    public func load(migratingBy plan: MigrationPlan? = nil, progress: Progress? = nil) throws {
        try beginLoading()
        try finishLoading(openStores(plan, progress))
    }

    /// Opens the store, as the `async` form does.
    ///
    /// - Parameters:
    ///   - plan: how stores of older versions get to this one.
    ///   - progress: tells how far the migration is, and cancels it; complete when the store is open.
    ///   - completion: called on the main thread, with the error if there was one.
    public func load(
        migratingBy plan: MigrationPlan? = nil, progress: Progress? = nil,
        completion: @escaping @MainActor @Sendable ((any Error)?) -> Void
    ) {
        Task {
            do {
                try await load(migratingBy: plan, progress: progress)
                await completion(nil)
            } catch {
                await completion(error)
            }
        }
    }

    private func beginLoading() throws {
        _ = try checkedModel()
        try state.withLock { state in
            guard state == .unloaded else { throw PersistenceError.alreadyLoaded(manager: name) }
            state = .loading
        }
    }

    private func finishLoading(_ outcome: Result<Void, any Error>) throws {
        switch outcome {
        case .success:
            configureMainContext()
            state.withLock { $0 = .loaded }
            // Who observes looks anew: the store may be another one than before.
            NotificationCenter.default.post(
                name: SaveSignals.managerDidLoad, object: container.persistentStoreCoordinator)
        case .failure(let error):
            state.withLock { $0 = .unloaded }
            throw error
        }
    }

    private func openStores(_ plan: MigrationPlan?, _ progress: Progress?) -> Result<Void, any Error> {
        if progress?.totalUnitCount ?? 0 <= 0 { progress?.totalUnitCount = 1 }
        do {
            try creation.check(wasDestroyed: wasDestroyed.withLock { $0 })
            if let plan { try migrate(by: plan, progress) }
        } catch { return .failure(error) }
        for description in container.persistentStoreDescriptions { description.shouldAddStoreAsynchronously = false }
        do { try openReconciledStores() } catch { return .failure(explained(error)) }
        progress?.completedUnitCount = progress?.totalUnitCount ?? 0
        return .success(())
    }

    /// Opens the stores that the container describes, as Core Data does.
    func openContainer() throws {
        let failure = Locked<(any Error)?>(nil)
        // Synchronous, as just asked for: the handler has been called for every store when this returns.
        container.loadPersistentStores { _, error in
            if let error { failure.withLock { $0 = $0 ?? error } }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private func migrate(by plan: MigrationPlan, _ progress: Progress?) throws {
        let checked = try CheckedPlan(plan, endingAt: programModel, of: name)
        for description in container.persistentStoreDescriptions {
            guard description.isMigrated, let url = description.url else { continue }
            try MigrationRunner(plan: checked, type: description.type, url: url, progress: progress).run()
        }
    }

    /// An error of inference in the words of structs.
    private func explained(_ error: any Error) -> any Error {
        guard !registry.plans.isEmpty else { return error }
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
        return error
    }
}
