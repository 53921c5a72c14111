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
            for case let store as SQLiteStore in persistentStores where !store.isReadOnly {
                if try store.finishDeferredTask() { return true }
            }
            return false
        }
    }
}

extension SQLiteStore {
    /// Removes one thing that a migration left, and notes in the metadata that it is gone, in one transaction.
    ///
    /// - Returns: whether there was one.
    fileprivate func finishDeferredTask() throws -> Bool {
        try following { try finishDeferredTask(of: $0) }
    }

    private func finishDeferredTask(of store: OpenStore) throws -> Bool {
        let (file, schema) = (store.file, store.schema)
        let structure = try StoreStructure(file)
        var left = DeferredCleanup(try file.metadata())
        guard !left.tasks.isEmpty else { return false }
        let task = DeferredCleanup([left.tasks.removeFirst()]).sparing(schema)
        let url = file.url
        // A statement that is being stepped through would keep the table.
        file.connection.removeCachedStatements()
        try file.run("finish the migration of", fallback: CoreDataErrorCode.migration) {
            try store.transaction {
                for task in structure.existing(task).tasks { try file.connection.execute(task.sql) }
                var metadata = try file.metadata()
                left.note(in: &metadata)
                let update = try file.connection.prepare("UPDATE Z_METADATA SET Z_PLIST = ?")
                try update.bind(StoreMetadata.data(of: metadata, url: url), at: 1)
                try update.run()
            }
        }
        left.note(in: &storedMetadata)
        return true
    }
}
