import CoreData

// The first caller opens the store, and the others wait.
extension PersistenceManager {
    /// Opens the store unless it is open.
    ///
    /// - Throws: ``PersistenceError/Code/notLoaded`` for a store that was destroyed, and what `load()` throws.
    package func openIfNeeded() throws {
        if isOpen { return }
        try refuseWhileOpening()
        // While the manager starts over, this waits for the new store.
        try opening.withLock { _ in
            if isOpen { return }
            try refuseOpeningAgain()
            try openNow(nil, nil)
            state.withLock { $0 = .opened }
        }
    }

    /// Opens the store unless it is open, off the calling thread; a task that is cancelled begins nothing.
    package func openIfNeeded() async throws {
        try Task.checkCancellation()
        if isOpen { return }
        try await offThread { try self.openIfNeeded() }
    }

    package var isOpen: Bool { state.withLock { $0 != .unloaded } }

    /// Opens the store unless it is open.
    ///
    /// - Returns: how often it was closed before.
    /// - Throws: what opening it throws.
    func closingsWhileOpen() throws -> Int {
        // The count is read first: if the store is closed meanwhile, the count differs afterwards.
        let count = closings.withLock { $0 }
        try openIfNeeded()
        return count
    }

    /// Whether the store is open and was not closed since the count was read.
    ///
    /// - Parameter count: the result of `closingsWhileOpen()`.
    /// - Returns: whether it stayed open.
    func hasStayedOpen(since count: Int) -> Bool { isOpen && closings.withLock { $0 } == count }

    /// Refuses what a closure of a migration plan, or an observer, does with the manager while its thread opens the
    /// store: it would wait for itself.
    func refuseWhileOpening() throws {
        if openingThread.withLock({ $0 }) === Thread.current { throw PersistenceError.stillOpening(manager: name) }
    }

    /// A store that was destroyed is made again only by an explicit `load()`.
    func refuseOpeningAgain() throws {
        if wasDestroyed.withLock({ $0 }) { throw PersistenceError.notLoaded(manager: name) }
    }
}
