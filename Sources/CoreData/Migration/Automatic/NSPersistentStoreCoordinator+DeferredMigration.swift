import Foundation

// Lightweight migration whose cleaning up may wait.
extension NSPersistentStoreCoordinator {
    /// Removes all tables and columns that lightweight migrations left for later.
    ///
    /// A store that was added with `NSPersistentStoreDeferredLightweightMigrationOptionKey` is migrated without removing what
    /// is not needed any more. Its metadata then have that key, with the value `true`, until this is done. Nothing happens
    /// where nothing was left.
    ///
    /// - Throws: the errors of the stores, such as 134090 for one that another process keeps locked; what could not be removed
    ///   can be tried again.
    public func finishDeferredLightweightMigration() throws {
        while try finishDeferredTask() {}
    }

    /// Removes one table, or one column, of those that lightweight migrations left for later:
    /// `DROP TABLE _T_ZCAR`, `ALTER TABLE ZCAR DROP COLUMN ZCOLOUR`.
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
