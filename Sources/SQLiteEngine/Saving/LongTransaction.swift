import CoreDataModel
import SQLGeneration
import SQLiteConnection
import StoreEngine

// Many saves that are there together, or not at all.
extension SQLiteEngine: LongTransactionEngine {
    /// Opens a transaction that takes in all saves until it ends.
    ///
    /// - Parameter makesIndexesLater: drops all indexes, for `makeIndexes()` to make when the rows are there: sorting once
    ///   costs less than finding a place for each row in an index that outgrows SQLite's cache.
    /// - Throws: SQLite's errors.
    package func beginLongTransaction(makesIndexesLater: Bool) throws {
        let store = try writable()
        try store.run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            try store.connection.beginLong(undoesParts: !makesIndexesLater && store.mayBreakConstraints)
        }
        store.filesOfLongTransaction = []
        guard makesIndexesLater else { return }
        try store.run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            for index in store.schema.indexes {
                try store.connection.execute("DROP INDEX IF EXISTS \(quoted(index.name))")
            }
        }
        store.indexesOfLongTransaction = store.schema.indexes
    }

    /// Makes the indexes that were left for later.
    ///
    /// Those whose rows share values that must be unique are left once more; nothing happens where there are none.
    package func makeIndexes() throws {
        guard let store = opened, !store.indexesOfLongTransaction.isEmpty else { return }
        try store.run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            store.indexesOfLongTransaction = try store.indexesOfLongTransaction.filter { try !store.makes($0) }
            store.connection.setUndoesParts(store.mayBreakConstraints)
        }
    }

    /// Rows that share values which must be unique; none where all indexes are there, which do not let them in.
    ///
    /// - Parameter limit: how many groups of rows, and how many of each, to look for.
    /// - Returns: the groups, each with its constraint.
    /// - Throws: an error that names the index when one is missing without such rows: no store goes without its
    ///   indexes.
    package func sharedUniqueValues(limit: Int) throws -> [(constraint: [String], rows: [NSManagedObjectID])] {
        guard let store = opened, let missing = store.indexesOfLongTransaction.first else { return [] }
        let found = try store.run("read from", fallback: CoreDataErrorCode.persistentStoreOperation) {
            try ConstraintCheck(store).sharedValues(limit: limit)
        }
        guard found.isEmpty else { return found }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreSave,
            "The index “\(missing.name)” cannot be made: rows of \(missing.table) share values that must be unique.",
            url: store.file.url)
    }

    /// Ends it; nothing happens where there is none.
    ///
    /// - Throws: what SQLite reports; then nothing of the transaction is there.
    package func endLongTransaction(commits: Bool) throws {
        guard let store = opened, let files = store.filesOfLongTransaction else { return }
        store.filesOfLongTransaction = nil
        store.indexesOfLongTransaction = []
        do {
            if commits { for file in files { file.willCommit() } }
            try store.run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
                try store.connection.endLong(commits: commits)
            }
        } catch {
            for file in files { store.undo(file) }
            throw error
        }
        for file in files { if commits { store.finish(file) } else { file.rollback() } }
        store.journal.settle()
    }

    /// Gives all rows the version of new ones: `UPDATE ZCAR SET Z_OPT = 1 WHERE Z_OPT <> 1`.
    package func resetVersions() throws {
        let store = try writable()
        try store.run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            for mapping in store.schema.mappings.compactMap({ $0 }) where mapping.layout.superentity == nil {
                try store.connection.run(ColumnSQL.resetVersions(in: mapping.table))
            }
        }
    }
}

extension OpenStore {
    /// Whether a save can meet values that must be unique; it is undone then, and tried again.
    fileprivate var mayBreakConstraints: Bool {
        schema.layout.entities.contains { !$0.uniquenessConstraints.isEmpty }
    }

    /// Makes an index, unless rows share values that must be unique.
    fileprivate func makes(_ index: IndexDefinition) throws -> Bool {
        do {
            try connection.execute(index.creation)
            return true
        } catch let error as SQLiteError where error.isUniqueViolation {
            return false
        }
    }

    /// After a save: its files are as its transaction is.
    func finish(_ files: ExternalFiles) {
        if filesOfLongTransaction == nil {
            if !files.isEmpty {
                files.commit()
                journal.settle()
            }
        } else if !files.isEmpty {
            filesOfLongTransaction?.append(files)
        }
    }

    /// After a save that failed: its files go, as its changes did.
    func undo(_ files: ExternalFiles) {
        if files.isEmpty { return }
        files.rollback()
        if filesOfLongTransaction == nil { journal.settle() }
    }
}
