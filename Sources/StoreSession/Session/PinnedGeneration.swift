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
