import Pippin

// For callers that are not asynchronous and do not wait. What they get comes on the main thread.
extension PersistenceManager {
    /// Opens the store, as `load` does.
    ///
    /// - Parameters:
    ///   - plan: how stores of older versions get to this one.
    ///   - progress: tells how far the migration is, and cancels it; complete when the store is open.
    ///   - completion: gets the error, if there was one.
    public func load(
        migratingBy plan: MigrationPlan? = nil, progress: Progress? = nil,
        completion: @escaping @MainActor @Sendable ((any Error)?) -> Void
    ) {
        tell({ result in
            switch result {
            case .success: completion(nil)
            case .failure(let error): completion(error)
            }
        }) { try await self.load(migratingBy: plan, progress: progress) }
    }

    /// Runs a block that reads, as `read` does.
    ///
    /// - Parameters:
    ///   - work: asks what it is given.
    ///   - completion: gets what the block returned, or the error.
    public func read<Value: Sendable>(
        _ work: @escaping @Sendable (ReadAccess) throws -> Value,
        completion: @escaping @MainActor @Sendable (Result<Value, any Error>) -> Void
    ) { tell(completion) { try await self.read(work) } }

    /// Runs a block that changes things, and saves them, as `write` does.
    ///
    /// - Parameters:
    ///   - onConflict: what to do when others have saved in between. By default the block runs again.
    ///   - work: asks and changes what it is given.
    ///   - completion: gets what the block returned, or the error.
    public func write<Value: Sendable>(
        onConflict: WriteConflictPolicy = .retry, _ work: @escaping @Sendable (WriteAccess) throws -> Value,
        completion: @escaping @MainActor @Sendable (Result<Value, any Error>) -> Void
    ) { tell(completion) { try await self.write(onConflict: onConflict, work) } }
}
