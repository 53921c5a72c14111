import StoreSession

// The first caller opens the store, and the others wait.
extension PersistenceManager {
    /// Opens the store unless it is open.
    ///
    /// - Throws: ``PersistenceError/Code/notLoaded`` for a store that was destroyed,
    ///   ``PersistenceError/Code/closed`` for one that was closed, and what `load()` throws.
    package func openIfNeeded() throws {
        if isOpen { return }
        try refuseWhileOpening()
        // While the manager starts over, this waits for the new store.
        try opening.withLock { _ in
            let next = try step { try $0.opening(on: .current) }
            if !next.isOpen { try finishOpening(.use) { try openAtFirstUse(self) } }
        }
    }

    /// Opens the store unless it is open, off the calling thread; a task that is cancelled begins nothing.
    package func openIfNeeded() async throws {
        try Task.checkCancellation()
        if isOpen { return }
        try await offThread { try self.openIfNeeded() }
    }

    package var isOpen: Bool { lifecycle.withLock { $0.isOpen } }

    /// Opens the store unless it is open.
    ///
    /// - Returns: how often it was closed before.
    /// - Throws: what opening it throws.
    func closingsWhileOpen() throws -> Int {
        let found = lifecycle.withLock { $0 }
        // Whether the store is closed before or after it is opened here: the count differs afterwards.
        if !found.isOpen { try openIfNeeded() }
        return found.closings
    }

    /// Whether the store is open and was not closed since the count was read.
    ///
    /// - Parameter count: the result of `closingsWhileOpen()`.
    /// - Returns: whether it stayed open.
    func hasStayedOpen(since count: Int) -> Bool { lifecycle.withLock { $0.isOpen && $0.closings == count } }

    /// Refuses what a closure of a migration plan, or an observer, does with the manager while its thread opens or
    /// destroys the store, and what an observer does while the store is closed for good: it would wait for itself.
    func refuseWhileOpening() throws {
        let life = lifecycle.withLock { $0 }
        if life.isInProgress(on: .current) { throw error(for: .inProgress) }
        if life.hasEnded { throw error(for: .ended) }
    }

    /// Takes a step of the store's life cycle. The caller holds `opening`.
    ///
    /// - Parameter step: the step.
    /// - Returns: the life cycle after the step.
    /// - Throws: the refusal of the step, as a ``PersistenceError``. Nothing has changed then.
    @discardableResult
    func step(_ step: (StoreLifecycle) throws -> StoreLifecycle) throws -> StoreLifecycle {
        let next = try nextStep(step)
        lifecycle.withLock { $0 = next }
        return next
    }

    /// The life cycle after a step, which is not taken yet. The caller holds `opening`.
    func nextStep(_ step: (StoreLifecycle) throws -> StoreLifecycle) throws -> StoreLifecycle {
        do { return try step(lifecycle.withLock { $0 }) } catch let refusal as StoreLifecycle.Refusal {
            throw error(for: refusal)
        }
    }

    /// Opens the stores of a manager that has begun to open them. The caller holds `opening`.
    ///
    /// - Parameters:
    ///   - opener: what opens them.
    ///   - work: opens them.
    /// - Throws: the error for a model that is missing, and what the work throws.
    func finishOpening(_ opener: StoreLifecycle.Opener, _ work: () throws -> Void) throws {
        do {
            _ = try checkedModel()
            try work()
        } catch {
            try step { $0.failed() }
            throw error
        }
        configureMainContext()
        // Observations read again: the store may be another one than before.
        saveSignals.signalAll()
        try step { $0.opened(by: opener) }
    }

    private func error(for refusal: StoreLifecycle.Refusal) -> PersistenceError {
        switch refusal {
        case .inProgress: .stillOpening(manager: name)
        case .destroyed: .notLoaded(manager: name)
        case .loaded: .alreadyLoaded(manager: name)
        case .ended: .closed(session.descriptions, manager: name)
        }
    }
}
