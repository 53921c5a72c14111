import CoreDataModel
import StoreEngine

/// The state of the stores that is read: the current state, the state at one moment, or the state in which a
/// transaction began.
///
/// Code that reads rows without a context passes one with each request.
package enum ReadScope: Sendable {
    /// The current state at each request.
    case now
    /// The state in which the generation was pinned.
    case pinned(PinnedGeneration)
    /// The state at the first request; a later one fails if there was a save since.
    case transaction(OptimisticTransaction)

    /// Runs requests of a session in that state.
    package func reading<Result>(
        _ session: StoreSession, _ body: () throws -> Result
    ) throws -> Result {
        switch self {
        case .now: try body()
        case .pinned(let generation):
            try session.withLock {
                try session.check(generation)
                return try session.reading(generation, body)
            }
        case .transaction(let transaction): try transaction.reading(body)
        }
    }

    /// Checks that all that was read in a pinned state was read from its stores.
    package func check(_ session: StoreSession) throws {
        if case .pinned(let generation) = self { try session.check(generation) }
    }
}

extension StoreSession {
    /// The current state, pinned so that it can be read while others write.
    ///
    /// - Parameter end: ends a wait for others' pins early; nil for a caller that waits in any case.
    /// - Returns: `nil` if there is no store, or one of the stores cannot pin it: it is in memory, has no write-ahead
    ///   log, or has reached its limit of pins.
    /// - Throws: `CancellationError` if a wait was ended early.
    package func pinnedScope(_ end: (any EndableWait)? = nil) throws -> ReadScope? {
        do {
            let generation = try pinCurrentGeneration(end)
            try check(generation)
            return .pinned(generation)
        } catch let error as CancellationError { throw error } catch { return nil }
    }

    /// Checks that there is a store, and that a generation has the state of each one.
    ///
    /// - Throws: 134070 where a store was removed or added meanwhile, or cannot pin its state.
    fileprivate func check(_ generation: PinnedGeneration) throws {
        let isKept = withLock { !stores.isEmpty && stores.allSatisfy { generation.object(of: $0) != nil } }
        guard isKept else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "The store that was being read has been removed or replaced.")
        }
    }

    /// Runs several readings of the current state of the only store in one transaction, so that there can
    /// be no save in between.
    ///
    /// - Parameter body: the readings, which should be short: others wait for the store.
    /// - Returns: the closure's result; nil if there are several stores, or the store does not support this: the
    ///   closure is not run then.
    /// - Throws: the closure's error, and the errors of the store.
    package func readingOneState<Result>(_ body: () throws -> Result) throws -> Result? {
        try withLock {
            guard stores.count == 1 else { return nil }
            var result: Result?
            return try stores[0].engine.readingOneState { result = try body() } ? result : nil
        }
    }

    /// Whether all stores support batch requests.
    package var takesBatches: Bool { withLock { stores.allSatisfy { $0.engine.batches != nil } } }

    /// Whether a store rounds dates, so that two of them may become one.
    package var roundsDates: Bool { withLock { stores.contains { $0.engine.roundsDates } } }
}
