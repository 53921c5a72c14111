import CoreData

// Where an operation runs: in the caller's context if there is one, else in one of the manager's.
extension PersistenceManager {
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

    /// Does the work and saves its context.
    func write<Result>(
        in context: NSManagedObjectContext?, _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        try requireLoaded()
        if let context { return try context.performAndWait { try saving(context, work) } }
        return try writes.sync { try writeInWorker(work) }
    }

    /// Does the work and saves its context.
    func write<Result: Sendable>(
        in context: NSManagedObjectContext?, _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        try requireLoaded()
        if let context {
            return try await perform(in: context) { context in
                let result = try work(context)
                if context.hasChanges { try context.save() }
                return result
            }
        }
        return try await writes.async { try self.writeInWorker(work) }
    }

    private func writeInWorker<Result>(_ work: (NSManagedObjectContext) throws -> Result) throws -> Result {
        let worker = workerContext
        return try worker.performAndWait { try writes.entering { try saving(worker, work) } }
    }

    private func saving<Result>(
        _ context: NSManagedObjectContext, _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let result = try work(context)
        if context.hasChanges { try context.save() }
        return result
    }

    func perform<Result: Sendable>(
        in context: NSManagedObjectContext, _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            context.perform { continuation.resume(with: Swift.Result { try work(context) }) }
        }
    }
}
