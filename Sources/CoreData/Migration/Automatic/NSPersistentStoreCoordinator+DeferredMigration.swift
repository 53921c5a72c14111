import Foundation

// Lightweight migration with deferred cleanup.
extension NSPersistentStoreCoordinator {
    /// - Returns: whether there was one.
    func finishDeferredTask() throws -> Bool {
        try withLock {
            for store in persistentStores where !store.isReadOnly {
                if try store.engine.migration?.finishDeferredTask() == true { return true }
            }
            return false
        }
    }
}
