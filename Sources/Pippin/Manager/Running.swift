package import CoreData

// Where work runs.
extension PersistenceManager {
    /// Runs work in a transaction of its own, one at a time with the manager's other writes, and saves its changes.
    package func inSavedTransaction<Result>(
        _ policy: WriteConflictPolicy = .retry, _ work: (WriteTurn) throws -> Result
    ) throws -> Result {
        try openIfNeeded()
        return try writes.sync { try inTransaction(policy) { try saving($0, work) } }
    }

    /// Runs work in a transaction of its own, as the blocking method does, off the calling thread.
    package func inSavedTransaction<Result: Sendable>(
        _ policy: WriteConflictPolicy = .retry,
        _ work: @escaping @Sendable (WriteTurn) throws -> Result
    ) async throws -> Result {
        try await openIfNeeded()
        return try await writes.async {
            try self.inTransaction(policy) { turn in try self.saving(turn, work) }
        }
    }

    /// Runs a small change in a transaction of its own: on the thread of the task that awaits it where nothing has to
    /// be waited for, else as ``inSavedTransaction(_:_:)`` does.
    ///
    /// - Parameters:
    ///   - kind: foresees whether the work is short.
    ///   - work: changes what its turn gives it. The second argument says whether it must be short: it throws
    ///     `WorkDurations.TooMuch` if it is not, and is done again where it may take long.
    /// - Returns: what the work returns.
    /// - Throws: what the work and its save throw.
    func inBriefTransaction<Result: Sendable>(
        _ kind: WorkKind, _ work: @escaping @Sendable (WriteTurn, Bool) throws -> Result
    ) async throws -> Result {
        try await openIfNeeded()
        if let done = try changeAtOnce(kind, { turn in try self.saving(turn) { try work($0, true) } }) {
            return done
        }
        return try await inSavedTransaction(.retry) { turn in
            try self.workDurations.timing(kind) { try work(turn, false) }
        }
    }

    private func saving<Result>(_ turn: WriteTurn, _ work: (WriteTurn) throws -> Result) throws -> Result {
        let result = try work(turn)
        if let context = turn.madeContext { try save(context) }
        return result
    }

    package func saving<Result>(
        _ context: NSManagedObjectContext, _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let result = try work(context)
        try save(context)
        return result
    }

    package func save(_ context: NSManagedObjectContext) throws {
        guard context.hasChanges else { return }
        do { try context.save() } catch { throw PersistenceError(saving: error, registry) }
    }

    /// Runs work on a context's queue.
    package func perform<Result: Sendable>(
        in context: NSManagedObjectContext, _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            context.perform { continuation.resume(with: Swift.Result { try work(context) }) }
        }
    }

    /// Runs blocking work on a thread that tasks do not share.
    package func offThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await Cancellation.running(on: DispatchQueue.global(), work)
    }
}
