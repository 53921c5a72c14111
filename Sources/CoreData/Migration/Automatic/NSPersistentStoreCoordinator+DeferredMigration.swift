import Foundation

// Lightweight migration with deferred cleanup.
extension NSPersistentStoreCoordinator {
    /// Removes all tables and columns whose removal lightweight migrations deferred.
    ///
    /// A store that was added with `NSPersistentStoreDeferredLightweightMigrationOptionKey` is migrated without
    /// removing what is no longer needed. Until this cleanup is done, its metadata have that key, with the value
    /// `true`. Nothing happens if there is nothing to remove.
    ///
    /// - Throws: the errors of the stores, such as 134090 for one that another process keeps locked; a failed removal
    ///   can be tried again.
    public func finishDeferredLightweightMigration() throws {
        while try finishDeferredTask() {}
    }

    /// Removes one table or column whose removal lightweight migrations deferred: `DROP TABLE _T_ZCAR`, `ALTER TABLE
    /// ZCAR DROP COLUMN ZCOLOUR`.
    ///
    /// - Throws: the errors of the stores; see ``finishDeferredLightweightMigration()``.
    public func finishDeferredLightweightMigrationTask() throws { _ = try finishDeferredTask() }

    /// - Returns: whether there was one.
    private func finishDeferredTask() throws -> Bool {
        try withLock {
            for store in persistentStores where !store.isReadOnly {
                if try store.engine.migration?.finishDeferredTask() == true { return true }
            }
            return false
        }
    }
}
