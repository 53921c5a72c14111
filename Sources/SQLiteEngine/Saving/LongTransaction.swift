import CoreDataModel
import SQLGeneration
import SQLiteConnection
import StoreEngine

// Combines many saves into one transaction.
extension SQLiteEngine: LongTransactionEngine {
    /// Begins a transaction that includes all saves until it ends.
    ///
    /// - Parameters:
    ///   - makesIndexesLater: drops all indexes, so that `makeIndexes()` creates them once the rows exist: sorting once
    ///     costs less than inserting each row into an index that outgrows SQLite's cache.
    ///   - source: if rows are copied, the triggers of derived attributes are dropped, too, and their values are
    ///     written as they are. Indexes that the source does not have are not created, except for those of constraints.
    /// - Throws: SQLite's errors, and those of the source.
    package func beginLongTransaction(makesIndexesLater: Bool, copying source: (any StoreEngine)?) throws {
        let missing = try source?.inspection?.missingIndexes() ?? []
        var store = try writable()
        try store.run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            try store.connection.beginLong(undoesParts: !makesIndexesLater && store.mayBreakConstraints)
        }
        store.filesOfLongTransaction = []
        do {
            try store.run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
                if source != nil, store.hasDerivedAttributes {
                    let copying = try store.takingDerivedValues()
                    (copying.filesOfLongTransaction, store.filesOfLongTransaction) = ([], nil)
                    (store, opened) = (copying, copying)
                }
                guard makesIndexesLater else { return }
                for index in store.schema.indexes {
                    try store.connection.execute("DROP INDEX IF EXISTS \(quoted(index.name))")
                }
                store.indexesOfLongTransaction = store.schema.indexes.filter {
                    $0.isUnique || !missing.contains($0.name)
                }
            }
        } catch {
            // The first error is the one to report.
            try? endLongTransaction(commits: false)
            throw error
        }
    }

    /// Creates the triggers of derived attributes again, and the deferred indexes.
    ///
    /// Indexes whose rows share values that must be unique are deferred again. Nothing happens if none are deferred.
    package func makeIndexes() throws {
        guard let store = opened else { return }
        try store.run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            for trigger in store.triggersOfLongTransaction { try store.connection.execute(trigger.creation) }
            store.triggersOfLongTransaction = []
            if store.indexesOfLongTransaction.isEmpty { return }
            store.indexesOfLongTransaction = try store.indexesOfLongTransaction.filter { try !store.makes($0) }
            store.connection.setUndoesParts(store.mayBreakConstraints)
        }
    }

    /// Rows that share values which must be unique; empty if all indexes exist, which prevent that.
    ///
    /// - Parameter limit: how many groups of rows, and how many of each, to look for.
    /// - Returns: the groups, each with its constraint.
    /// - Throws: an error that names a missing index if there are no such rows, since no store may lack its indexes.
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

    /// Ends the long transaction, if there is one.
    ///
    /// - Throws: SQLite's errors; nothing of the transaction is saved then.
    package func endLongTransaction(commits: Bool) throws {
        guard let store = opened, store.wasLockedBeforePreview == nil, let files = store.filesOfLongTransaction
        else { return }
        store.filesOfLongTransaction = nil
        store.indexesOfLongTransaction = []
        if let usual = store.usualStore { opened = usual }
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

    /// Sets the version of all rows to that of new ones: `UPDATE ZCAR SET Z_OPT = 1 WHERE Z_OPT <> 1`.
    package func resetVersions() throws {
        let store = try writable()
        try store.run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            for mapping in store.schema.mappings.compactMap({ $0 }) where mapping.layout.superentity == nil {
                try store.connection.run(ColumnSQL.resetVersions(in: mapping.table))
            }
        }
    }
}

extension SQLiteEngine: PreviewingEngine {
    package func beginPreview() throws {
        try writing { store in
            let wasLocked = store.locksOutWriters
            try store.run("read from") {
                try store.begin()
                do { try store.connection.beginPreview() } catch {
                    // The first error is the one to report.
                    try? store.connection.rollback()
                    throw error
                }
            }
            (store.wasLockedBeforePreview, store.filesOfLongTransaction) = (wasLocked, [])
        }
    }

    package func endPreview() -> Bool {
        guard let store = opened, let wasLocked = store.wasLockedBeforePreview else { return false }
        let files = store.filesOfLongTransaction ?? []
        (store.wasLockedBeforePreview, store.filesOfLongTransaction) = (nil, nil)
        defer {
            for file in files { file.rollback() }
            store.journal.settle()
        }
        do { try store.connection.endPreview() } catch {
            try? store.connection.rollback()
            return false
        }
        if wasLocked { store.locksOutWriters = true } else { try? store.connection.rollback() }
        return true
    }
}

extension OpenStore {
    /// Whether a save may violate a uniqueness constraint; it is then rolled back, and tried again.
    fileprivate var mayBreakConstraints: Bool {
        schema.layout.entities.contains { !$0.uniquenessConstraints.isEmpty }
    }

    /// The same store, with derived attributes that are written like others: no trigger computes them until they are
    /// made again.
    fileprivate func takingDerivedValues() throws -> OpenStore {
        let store = OpenStore(
            file: file, schema: schema.takingDerivedValues(), identity: identity, external: external, derived: derived,
            history: history, hasHistory: hasHistory, structureVersion: structureVersion)
        store.usualStore = self
        store.triggersOfLongTransaction = try schema.derivedAttributeTriggers()
        for trigger in store.triggersOfLongTransaction {
            try connection.execute("DROP TRIGGER IF EXISTS \(quoted(trigger.name))")
        }
        return store
    }

    /// Creates an index, unless rows share values that must be unique.
    fileprivate func makes(_ index: IndexDefinition) throws -> Bool {
        do {
            try connection.execute(index.creation)
            return true
        } catch let error as SQLiteError where error.isUniqueViolation {
            return false
        }
    }

    /// After a save: keeps or removes its files, together with its transaction.
    func finish(_ files: ExternalFiles) {
        if filesOfLongTransaction == nil {
            if !files.isEmpty {
                removeUnread(files.commit())
                journal.settle()
            }
        } else if !files.isEmpty {
            filesOfLongTransaction?.append(files)
        }
    }

    /// Removes superfluous files, and earlier ones that stayed, once no connection reads a state in which rows refer to
    /// them.
    func removeUnread(_ names: [String] = []) {
        let all = journal.unread + names
        journal.unread = external.removeUnread(all, connection) ? [] : all
    }

    /// After a failed save: removes its files, together with its changes.
    func undo(_ files: ExternalFiles) {
        if files.isEmpty { return }
        files.rollback()
        if filesOfLongTransaction == nil { journal.settle() }
    }
}
