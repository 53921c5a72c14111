/// The state of the stores that is read: what they have now, what they had at one moment, or what a transaction began with.
///
/// Who reads rows without a context gives one to each request.
package enum ReadScope: Sendable {
    /// What the stores have at each request.
    case now
    /// What they had when the generation was pinned.
    case pinned(NSQueryGenerationToken)
    /// What they had at the first request; a later one fails when somebody has saved since.
    case transaction(OptimisticTransaction)

    /// Runs requests of a coordinator on that state.
    package func reading<Result>(
        _ coordinator: NSPersistentStoreCoordinator, _ body: () throws -> Result
    ) throws -> Result {
        switch self {
        case .now: try body()
        case .pinned(let token): try coordinator.reading(token, body)
        case .transaction(let transaction): try transaction.reading(body)
        }
    }
}

extension NSPersistentStoreCoordinator {
    /// The state of now, to be read while others write.
    ///
    /// - Returns: `nil` where one of the stores cannot keep one: it is in memory, has no write-ahead log, or keeps as many as it may.
    package func pinnedScope() -> ReadScope? {
        guard let token = try? pinCurrentGeneration(), stores.allSatisfy({ token.generation(of: $0) != nil }) else {
            return nil
        }
        return .pinned(token)
    }

    /// Runs readings of one state of the only store, as it is now: in one transaction, so that nobody can save in between.
    ///
    /// - Parameter body: reads, and takes a short time: others wait for the store.
    /// - Returns: what the closure returns; nil where there are several stores, or one that cannot do this: nothing is run then.
    /// - Throws: what the closure throws, and the errors of the store.
    package func readingOneState<Result>(_ body: () throws -> Result) throws -> Result? {
        try withLock {
            guard stores.count == 1 else { return nil }
            var result: Result?
            return try stores[0].engine.readingOneState { result = try body() } ? result : nil
        }
    }

    /// Whether all stores take batch requests.
    package var takesBatches: Bool { withLock { stores.allSatisfy { $0.engine.batches != nil } } }
}

extension NSManagedObjectContext {
    /// Has a new context read a state.
    package func read(in scope: ReadScope) throws {
        switch scope {
        case .now: break
        case .pinned(let token): try setQueryGenerationFrom(token)
        case .transaction(let transaction): join(transaction)
        }
    }
}
