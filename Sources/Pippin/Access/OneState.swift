import CoreData

// Reading one state of the store.
extension PersistenceManager {
    /// Runs a single question, which is answered from one state: again, where somebody saves while it is put together.
    func asking<Result: Sendable>(_ question: @escaping @Sendable (ReadAccess) throws -> Result) async throws -> Result
    {
        try await openIfNeeded()
        return try await offThread { try self.reading(isPinned: false) { try question(ReadAccess(access: $0)) } }
    }

    #if canImport(ObjectiveC)
        /// Apple's Core Data reads a generation in a context.
        func reading<Result>(isPinned: Bool, _ work: (ModelAccess) throws -> Result) throws -> Result {
            let context = makeWorker()
            return try context.performAndWait {
                if isPinned { try context.setQueryGenerationFrom(.current) }
                return try work(ModelAccess(self, context))
            }
        }
    #else
        /// Runs work on one state of the store: one that is kept while others save, if it is to be pinned and can be; else the work
        /// runs again.
        func reading<Result>(isPinned: Bool, _ work: (ModelAccess) throws -> Result) throws -> Result {
            let coordinator = container.persistentStoreCoordinator
            if isPinned, let scope = coordinator.pinnedScope() { return try work(access(to: scope)) }
            var attempt = 0
            while true {
                attempt += 1
                let transaction = OptimisticTransaction(coordinator)
                let access = access(to: .transaction(transaction))
                // In turn with the manager's own writes, when trying again does not help.
                let outcome = Swift.Result {
                    try attempt < WriteAttempts.limit ? work(access) : writes.sync { try work(access) }
                }
                guard transaction.isBroken, attempt < 2 * WriteAttempts.limit else { return try outcome.get() }
                WriteAttempts.pause(after: attempt)
            }
        }

        private func access(to scope: ReadScope) -> ModelAccess {
            let rows: any StructRows = storeRows.map { $0.reading(scope) } ?? ObjectRows(makeWorker())
            return ModelAccess(self, rows) {
                let worker = self.makeWorker()
                try worker.read(in: scope)
                return worker
            }
        }
    #endif
}
