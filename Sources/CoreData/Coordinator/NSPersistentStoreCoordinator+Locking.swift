import Foundation
import StoreSession

// Exclusive use of the stores.
extension NSPersistentStoreCoordinator {
    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result { try session.withLock(body) }

    /// Runs a block that asks stores on behalf of a context, which developers' stores can see.
    func asking<Result>(for context: NSManagedObjectContext?, _ body: () throws -> Result) rethrows -> Result {
        try withLock {
            let asked = stores.compactMap(\.objectStore)
            let former = asked.map(\.askingContext)
            for store in asked { store.askingContext = context }
            defer { for (store, context) in zip(asked, former) { store.askingContext = context } }
            return try body()
        }
    }

    // MARK: Blocks of a program

    func runLater(_ block: @escaping () -> Void) {
        let work = Transferred(block)
        queue.async { [self] in withLock { work.value() } }
    }

    /// Runs a block with exclusive use of the stores, and waits for its result.
    ///
    /// - Parameter block: the work; no other thread uses the stores meanwhile.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try withLock(block) }

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
