import Pippin

// Methods with completion handlers, for code that is not asynchronous and does not wait. The handlers are called on the
// main thread.
extension PersistenceManager {
    /// Opens the store, as `load` does.
    ///
    /// - Parameters:
    ///   - plan: how stores of older versions are migrated to this one.
    ///   - progress: shows how far the migration is, and can cancel it; complete when the store is open.
    ///   - completion: receives the error, if there was one.
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
    ///   - work: asks the access that it is given.
    ///   - completion: receives what the block returned, or the error.
    public func read<Value: Sendable>(
        _ work: @escaping @Sendable (ReadAccess) throws -> Value,
        completion: @escaping @MainActor @Sendable (Result<Value, any Error>) -> Void
    ) { tell(completion) { try await self.read(work) } }

    /// Runs a block that changes things, and saves its changes, as `write` does.
    ///
    /// - Parameters:
    ///   - onConflict: what to do if others have saved in between. By default the block runs again.
    ///   - work: asks and changes what it is given.
    ///   - completion: receives what the block returned, or the error.
    public func write<Value: Sendable>(
        onConflict: WriteConflictPolicy = .retry, _ work: @escaping @Sendable (WriteAccess) throws -> Value,
        completion: @escaping @MainActor @Sendable (Result<Value, any Error>) -> Void
    ) { tell(completion) { try await self.write(onConflict: onConflict, work) } }
}
