import CoreData

// Where an operation runs: in the caller's context if there is one, else in one of the manager's.
extension PersistenceManager {
    /// Throws unless the store is open.
    func requireLoaded() throws {
        guard state.withLock({ $0 == .loaded }) else { throw PersistenceError.notLoaded(manager: name) }
    }

    func read<Result>(
        in context: NSManagedObjectContext?, _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        try requireLoaded()
        let context = context ?? contextForThread()
        return try context.performAndWait { try work(context) }
    }

    func read<Result: Sendable>(
        in context: NSManagedObjectContext?, _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        try requireLoaded()
        // Tasks wander from thread to thread, so a thread's context is of no use to them.
        return try await perform(in: context ?? workerContext, work)
    }

    /// Does the work and saves its context; where that fails, a context of the caller's is as it was. Without one, it is a
    /// transaction, and may be done again.
    func write<Result>(
        in context: NSManagedObjectContext?, _ policy: WriteConflictPolicy = .retry,
        _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        try requireLoaded()
        if let context { return try context.performAndWait { try saveOrRestore(context, work) } }
        return try writes.sync { try inTransaction(policy) { try saving($0, work) } }
    }

    /// Does the work and saves its context; where that fails, a context of the caller's is as it was. Without one, it is a
    /// transaction, and may be done again.
    func write<Result: Sendable>(
        in context: NSManagedObjectContext?, _ policy: WriteConflictPolicy = .retry,
        _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        try requireLoaded()
        if let context { return try await perform(in: context) { try self.saveOrRestore($0, work) } }
        return try await writes.async {
            try self.inTransaction(policy) { context in try self.saving(context, work) }
        }
    }

    private func saveOrRestore<Result>(
        _ context: NSManagedObjectContext, _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let former = FormerChanges(of: context)
        do {
            let result = try saving(context, work)
            former.forget()
            return result
        } catch {
            former.restore()
            throw error
        }
    }

    private func saving<Result>(
        _ context: NSManagedObjectContext, _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let result = try work(context)
        try save(context)
        return result
    }

    /// Saves a context, on its queue.
    ///
    /// - Throws: ``SaveError``
    func save(_ context: NSManagedObjectContext) throws {
        guard context.hasChanges else { return }
        do { try context.save() } catch { throw SaveError(error, registry) }
    }

    func perform<Result: Sendable>(
        in context: NSManagedObjectContext, _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            context.perform { continuation.resume(with: Swift.Result { try work(context) }) }
        }
    }
}
