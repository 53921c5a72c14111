import Foundation
import StoreEngine

// Query generations: states of the stores that can be read while others write.
extension NSPersistentStoreCoordinator {
    /// A token for the present content of the stores. Stores without generations are always read as they are. If a
    /// store cannot pin more generations, this may wait until others release theirs.
    ///
    /// - Parameter end: ends such a wait early; nil for a caller that waits in any case.
    /// - Returns: the token.
    /// - Throws: the errors of a store that cannot be read, or has too many pinned generations already;
    ///   `CancellationError` if the wait was ended early.
    package func pinCurrentGeneration(_ end: (any EndableWait)? = nil) throws -> NSQueryGenerationToken {
        var place: AnyObject?
        while true {
            do { return try pinGeneration(holding: place) } catch let full as GenerationsInUse {
                // While waiting, nothing is held that others wait for.
                place = nil
                place = try full.wait(end)
            }
        }
    }

    private func pinGeneration(holding place: AnyObject?) throws -> NSQueryGenerationToken {
        try withLock {
            var generations: [Int: AnyObject] = [:]
            for store in stores {
                generations[store.identity.number] = try store.engine.pinning?.pinGeneration(holding: place)
            }
            return NSQueryGenerationToken(QueryGenerationState(generations, saveCount: generation))
        }
    }

    /// Runs a block that reads the stores in the state in which a token was made.
    ///
    /// - Parameters:
    ///   - token: a token that is neither `current` nor expired; `nil` to read the stores as they are.
    ///   - body: reads the stores.
    /// - Returns: what the block returns.
    package func reading<Result>(
        _ token: NSQueryGenerationToken?, _ body: () throws -> Result
    ) rethrows -> Result {
        guard let token else { return try body() }
        return try withLock {
            let former = stores.compactMap { store in store.engine.pinning.map { (store, $0, $0.readGeneration) } }
            for (store, engine, _) in former { engine.readGeneration = token.generation(of: store) }
            defer { for (_, engine, generation) in former { engine.readGeneration = generation } }
            return try body()
        }
    }
}
