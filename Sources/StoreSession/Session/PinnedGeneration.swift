import CoreDataModel
import Foundation
import StoreEngine
import Synchronization

/// A state of a session's stores that can be read while others write, as long as this object exists.
package final class PinnedGeneration: @unchecked Sendable {
    // @unchecked Sendable: immutable; the generations are only used under the session's lock.
    /// The object by which each store reads, by the number of its identity.
    private let generations: [Int: AnyObject]
    /// The session's count of saves at that time.
    package let saveCount: UInt32
    package let isExpired: Bool

    private struct WeakGeneration { weak var generation: PinnedGeneration? }
    private static let known = Mutex<[UUID: WeakGeneration]>([:])

    /// The identifier of the generation in archives, made when it is first archived, since the system has to be asked
    /// for it.
    private let archived: Mutex<UUID?>

    init(_ generations: [Int: AnyObject], saveCount: UInt32) {
        self.generations = generations
        self.saveCount = saveCount
        isExpired = false
        archived = Mutex(nil)
    }

    package init(expired identifier: UUID) {
        generations = [:]
        saveCount = 0
        isExpired = true
        archived = Mutex(identifier)
    }

    deinit {
        guard !isExpired, let identifier = archived.withLock({ $0 }) else { return }
        Self.known.withLock { $0[identifier] = nil }
    }

    /// The object by which a store reads this generation; `nil` for a store without generations.
    package func object(of store: SessionStore) -> AnyObject? { generations[store.identity.number] }

    /// The identity of the generation in archives.
    package var identifier: UUID {
        archived.withLock { archived in
            if let archived { return archived }
            let identifier = UUID()
            archived = identifier
            Self.known.withLock { $0[identifier] = WeakGeneration(generation: self) }
            return identifier
        }
    }

    /// The generation with an identifier, if it can still be read.
    package static func live(_ identifier: UUID) -> PinnedGeneration? {
        known.withLock { $0[identifier]?.generation }
    }
}

// States of the stores that can be read while others write.
extension StoreSession {
    /// Pins the present content of the stores. Stores without generations are always read as they are. If a store
    /// cannot pin more generations, this may wait until others release theirs.
    ///
    /// - Parameter end: ends such a wait early; nil for a caller that waits in any case.
    /// - Returns: the generation.
    /// - Throws: the errors of a store that cannot be read, or has too many pinned generations already;
    ///   `CancellationError` if the wait was ended early.
    package func pinCurrentGeneration(_ end: (any EndableWait)? = nil) throws -> PinnedGeneration {
        var place: AnyObject?
        while true {
            do { return try pinGeneration(holding: place) } catch let full as GenerationsInUse {
                // While waiting, nothing is held that others wait for.
                place = nil
                place = try full.wait(end)
            }
        }
    }

    private func pinGeneration(holding place: AnyObject?) throws -> PinnedGeneration {
        try withLock {
            var generations: [Int: AnyObject] = [:]
            for store in stores {
                generations[store.identity.number] = try store.engine.pinning?.pinGeneration(holding: place)
            }
            return PinnedGeneration(generations, saveCount: generation)
        }
    }

    /// Runs a block that reads the stores in a state that was pinned.
    ///
    /// - Parameters:
    ///   - generation: a generation that is not expired; `nil` to read the stores as they are.
    ///   - body: reads the stores.
    /// - Returns: what the block returns.
    package func reading<Result>(
        _ generation: PinnedGeneration?, _ body: () throws -> Result
    ) rethrows -> Result {
        guard let generation else { return try body() }
        return try withLock {
            let former = stores.compactMap { store in store.engine.pinning.map { (store, $0, $0.readGeneration) } }
            for (store, engine, _) in former { engine.readGeneration = generation.object(of: store) }
            defer { for (_, engine, generation) in former { engine.readGeneration = generation } }
            return try body()
        }
    }
}

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
    /// The state in which a block's transaction began, with the block's unsaved changes.
    case unsaved(UnsavedChanges)

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
        case .unsaved(let changes): try changes.reading(body)
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
    package var takesBatches: Bool { withState { stores.allSatisfy { $0.engine.batches != nil } } }

    /// Whether a store rounds dates, so that two of them may become one.
    package var roundsDates: Bool { withState { stores.contains { $0.engine.roundsDates } } }
}
