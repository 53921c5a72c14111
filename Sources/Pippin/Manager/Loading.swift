import CoreData

/// How far a manager's loading has come.
enum LoadState {
    case unloaded, loading, loaded
}

extension PersistenceManager {
    /// Opens the store, and creates it where there is none. To be called once, before anything else.
    ///
    /// - Throws: ``PersistenceError/alreadyLoaded(manager:)`` the second time, ``PersistenceError/modelNotFound(name:bundle:)``
    ///   and its like where there is no model, and Core Data's error where the store cannot be opened. After a failure,
    ///   `load` may be called again.
    public func load() async throws {
        try beginLoading()
        // Opening may take seconds when a store is migrated: not on a thread that tasks share.
        let outcome = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(returning: self.openStores())
            }
        }
        try finishLoading(outcome)
    }

    /// Opens the store, as the `async` form does, and waits for it.
    ///
    /// - Throws: what the `async` form throws.
    public func load() throws {
        try beginLoading()
        try finishLoading(openStores())
    }

    /// Opens the store, as the `async` form does.
    ///
    /// - Parameter completion: called on the main thread, with the error if there was one.
    public func load(completion: @escaping @MainActor @Sendable ((any Error)?) -> Void) {
        Task {
            do {
                try await load()
                await completion(nil)
            } catch {
                await completion(error)
            }
        }
    }

    /// Throws unless the store is open.
    func requireLoaded() throws {
        guard state.withLock({ $0 == .loaded }) else { throw PersistenceError.notLoaded(manager: name) }
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
        case .failure(let error):
            state.withLock { $0 = .unloaded }
            throw error
        }
    }

    private func openStores() -> Result<Void, any Error> {
        for description in container.persistentStoreDescriptions { description.shouldAddStoreAsynchronously = false }
        let failure = Locked<(any Error)?>(nil)
        // Synchronous, as just asked for: the handler has been called for every store when this returns.
        container.loadPersistentStores { _, error in
            if let error { failure.withLock { $0 = $0 ?? error } }
        }
        return failure.withLock { $0.map(Result.failure) ?? .success(()) }
    }
}
