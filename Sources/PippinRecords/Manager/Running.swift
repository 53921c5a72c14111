import CoreData
import Pippin

// Runs operations in the caller's context if there is one, otherwise in one of the manager's.
extension PersistenceManager {
    func reading<Result>(
        in context: NSManagedObjectContext?, _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        try openIfNeeded()
        let context = context ?? contextForThread()
        return try context.performAndWait { try work(context) }
    }

    func reading<Result: Sendable>(
        in context: NSManagedObjectContext?, _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        try await openIfNeeded()
        // Tasks move between threads, so a thread's context is of no use to them.
        return try await perform(in: context ?? makeWorker(), work)
    }

    func writing<Result>(
        in context: NSManagedObjectContext?, _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        guard let context else { return try inSavedTransaction { try work($0.context()) } }
        try openIfNeeded()
        return try context.performAndWait { try saveOrRestore(context, work) }
    }

    func writing<Result: Sendable>(
        in context: NSManagedObjectContext?, _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        guard let context else { return try await inSavedTransaction { try work($0.context()) } }
        try await openIfNeeded()
        return try await perform(in: context) { try self.saveOrRestore($0, work) }
    }

    /// Does work in a context of the caller's and saves it. If that fails, the context is as it was before.
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

    /// Calls a completion handler on the main thread.
    func tell<Value: Sendable>(
        _ completion: @escaping @MainActor @Sendable (Result<Value, any Error>) -> Void,
        _ work: @escaping @Sendable () async throws -> Value
    ) {
        Task {
            do {
                let value = try await work()
                await completion(.success(value))
            } catch {
                await completion(.failure(error))
            }
        }
    }
}
