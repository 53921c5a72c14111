import SQLiteConnection

// Many saves that are there together, or not at all.
extension SQLiteStore {
    /// Opens a transaction that takes in all saves until it ends.
    func beginLongTransaction() throws {
        let store = try writable()
        // A save that meets values which must be unique is undone, and tried again.
        let undoesParts = store.schema.layout.entities.contains { !$0.uniquenessConstraints.isEmpty }
        try store.run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            try store.connection.beginLong(undoesParts: undoesParts)
        }
        store.filesOfLongTransaction = []
    }

    /// Ends it; nothing happens where there is none.
    ///
    /// - Throws: what SQLite reports; then nothing of the transaction is there.
    func endLongTransaction(commits: Bool) throws {
        guard let store = opened, let files = store.filesOfLongTransaction else { return }
        store.filesOfLongTransaction = nil
        do {
            try store.run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
                try store.connection.endLong(commits: commits)
            }
        } catch {
            for file in files { file.rollback() }
            throw error
        }
        for file in files { if commits { file.commit() } else { file.rollback() } }
    }

    /// Gives all rows the version of new ones: `UPDATE ZCAR SET Z_OPT = 1 WHERE Z_OPT <> 1`.
    func resetVersions() throws {
        let store = try writable()
        try store.run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            for mapping in store.schema.mappings.compactMap({ $0 }) where mapping.layout.superentity == nil {
                try store.connection.execute("UPDATE \(quoted(mapping.table)) SET Z_OPT = 1 WHERE Z_OPT <> 1")
            }
        }
    }
}

extension OpenStore {
    /// After a save: its files are as its transaction is.
    func finish(_ files: ExternalFiles) {
        if filesOfLongTransaction == nil {
            files.commit()
        } else if !files.isEmpty {
            filesOfLongTransaction?.append(files)
        }
    }
}
