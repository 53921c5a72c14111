import Foundation

extension NSPersistentStoreCoordinator {
    /// Runs a block with the stores without blocking the caller.
    ///
    /// - Parameter block: what to run, while no other thread has the stores.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws.
    @preconcurrency
    public func perform<T>(_ block: @escaping @Sendable () throws -> T) async rethrows -> T {
        try NSManagedObjectContext.get(await outcome(of: block), of: block)
    }

    private func outcome<T>(of block: @escaping @Sendable () throws -> T) async -> Swift.Result<T, any Error> {
        let result: Transferred<Swift.Result<T, any Error>> = await withCheckedContinuation { continuation in
            let later = NSManagedObjectContext.Later<Swift.Result<T, any Error>>()
            // What the block captured is let go before the caller goes on.
            let work = HandedBlock { later.value = Swift.Result { try block() } }
            perform {
                work.run()
                continuation.resume(returning: Transferred(later.take()))
            }
        }
        return result.value
    }
}
