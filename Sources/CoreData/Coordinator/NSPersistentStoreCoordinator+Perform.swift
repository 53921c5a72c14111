import Foundation

extension NSPersistentStoreCoordinator {
    /// Runs a block with exclusive use of the stores, without blocking the caller.
    ///
    /// - Parameter block: the work; no other thread uses the stores meanwhile.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws.
    @preconcurrency
    public func perform<T>(_ block: @escaping @Sendable () throws -> T) async rethrows -> T {
        try NSManagedObjectContext.get(await outcome(of: block), of: block)
    }

    private func outcome<T>(of block: @escaping @Sendable () throws -> T) async -> Swift.Result<T, any Error> {
        let result: Transferred<Swift.Result<T, any Error>> = await withCheckedContinuation { continuation in
            let later = NSManagedObjectContext.Later<Swift.Result<T, any Error>>()
            // Objects captured by the block are released before the caller continues.
            let work = HandedBlock { later.value = Swift.Result { try block() } }
            perform {
                work.run()
                continuation.resume(returning: Transferred(later.take()))
            }
        }
        return result.value
    }
}
