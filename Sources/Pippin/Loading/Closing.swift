import StoreSession

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
