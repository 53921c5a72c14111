import Foundation

// Query generations: states of the stores that can be read while others write.
extension NSPersistentStoreCoordinator {
    /// A token of what the stores hold now. Stores without generations are read as they are at any time. Where a store lets no more be pinned, this may
    /// wait until others let go of theirs.
    ///
    /// - Throws: the errors of a store that cannot be read, or that has too many generations pinned already.
    package func pinCurrentGeneration() throws -> NSQueryGenerationToken {
        var place: AnyObject?
        while true {
            do { return try pinGeneration(holding: place) } catch let full as GenerationsInUse {
                // Who waits holds nothing that others wait for.
                place = nil
                place = try full.wait()
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

    /// Runs a block in which the stores are read as they were when a token was made.
    ///
    /// - Parameters:
    ///   - token: a token that is neither `current` nor expired; `nil` to read the stores as they are.
    ///   - body: what reads the stores.
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
