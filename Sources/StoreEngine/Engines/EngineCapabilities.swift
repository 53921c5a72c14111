import CoreDataModel

/// An engine that numbers its rows, so that rows can be saved with their own keys.
package protocol KeyedEngine: StoreEngine {
    /// Reserves all keys up to a given one, so that new objects get other keys than objects that bring their own.
    func reserveKeys(upTo key: Int64, of root: EntityLayout) throws

    /// The highest key that was given out for an entity and those that inherit from it, also to objects that are gone.
    func lastKey(of root: EntityLayout) throws -> Int64
}

/// An engine that changes rows without handing them out, in one transaction each.
package protocol BatchEngine: StoreEngine {
    /// Writes new rows, or nothing.
    ///
    /// - Parameters:
    ///   - plan: the entity and the properties that get values.
    ///   - next: fills in the next row; returns false if there is none.
    /// - Returns: the result of the insertion.
    /// - Throws: the errors of `next`, and those of the store.
    func insertBatch(_ plan: BatchInsertPlan, next: (inout BatchRow) throws -> Bool) throws -> BatchOutcome

    /// Changes rows.
    func updateBatch(_ plan: BatchUpdatePlan) throws -> BatchOutcome

    /// Deletes rows, applying the delete rules.
    func deleteBatch(_ plan: BatchDeletePlan) throws -> BatchOutcome
}

/// An engine that can combine many saves into one transaction.
package protocol LongTransactionEngine: StoreEngine {
    /// Begins a transaction that includes all saves until it ends.
    ///
    /// - Parameters:
    ///   - makesIndexesLater: drops all indexes, so that `makeIndexes()` creates them once the rows exist.
    ///   - copies: whether the rows are copies of another store's: values of derived attributes are then taken from them,
    ///     and not computed, as far as the engine can do that.
    /// - Throws: the errors of the store.
    func beginLongTransaction(makesIndexesLater: Bool, copies: Bool) throws

    /// Creates the deferred indexes, and what computes derived attributes. Those whose rows share values that must be
    /// unique are deferred again.
    func makeIndexes() throws

    /// Rows that share values which must be unique; empty if all indexes exist.
    ///
    /// - Parameter limit: how many groups of rows, and how many of each, to look for.
    /// - Returns: the groups, each with its constraint.
    /// - Throws: an error that names a missing index.
    func sharedUniqueValues(limit: Int) throws -> [(constraint: [String], rows: [NSManagedObjectID])]

    /// Sets the version of all rows to that of new ones.
    func resetVersions() throws

    /// Ends the long transaction, if there is one.
    ///
    /// - Throws: the store's errors; nothing of the transaction is saved then.
    func endLongTransaction(commits: Bool) throws
}

extension LongTransactionEngine {
    package func beginLongTransaction(makesIndexesLater: Bool) throws {
        try beginLongTransaction(makesIndexesLater: makesIndexesLater, copies: false)
    }
}

/// An engine of a store that other coordinators and programs may write to.
package protocol SharedEngine: StoreEngine {
    /// A number that changes when others save to the store.
    func changeCount() throws -> Int64

    /// The value that `changeCount()` must have for the next write; `nil` if any value will do.
    var expectedChanges: Int64? { get set }

    /// Keeps others from saving to the store, until something is saved here or `readmitWriters()` is called.
    func lockOutWriters() throws

    /// Keeps others from saving, as `lockOutWriters()` does, unless the caller would have to wait: for another
    /// program's lock, for readers of the file, or for a server.
    ///
    /// - Returns: whether others are kept out.
    func lockOutWritersUnlessBusy() throws -> Bool

    /// Lets others save again.
    func readmitWriters()

    /// Whether reading does not block: it waits neither for a server, nor for another program that writes.
    var readsWithoutWaiting: Bool { get }
}

/// Thrown if others have changed a store unexpectedly.
package struct UnexpectedChange: Error {
    package init() {}
}

/// An engine that keeps a history of saves.
package protocol HistoryEngine: StoreEngine {
    /// The transactions after a position, in order.
    func historyTransactions(after start: HistoryPosition?) throws -> [HistoryTransactionRow]

    /// The changes of the transactions after a position, in order.
    func historyChanges(after start: HistoryPosition?) throws -> [HistoryChangeRow]

    /// Deletes the transactions before a position; `nil` for all.
    func deleteHistory(before end: HistoryPosition?) throws

    /// The number of the latest transaction; 0 before the first one.
    func latestTransaction() throws -> Int64

    /// The number of the oldest transaction that has not been deleted; `nil` if there is none.
    func oldestKeptTransaction() throws -> Int64?

    /// Whether transactions that others have seen may still be missing, as on a standby.
    var mayLag: Bool { get }
}

extension HistoryEngine {
    package var mayLag: Bool { false }
}

/// An engine that can keep a state readable while others write.
package protocol PinningEngine: StoreEngine {
    /// Keeps the store's present content readable, as long as the result exists; `nil` if that is impossible.
    func pinGeneration() throws -> AnyObject?

    /// The same for a caller that can wait until others release theirs.
    ///
    /// - Parameter place: the result of waiting; `nil` for a caller that has not waited.
    /// - Returns: the object that keeps the content readable.
    /// - Throws: ``GenerationsInUse`` if waiting helps.
    func pinGeneration(holding place: AnyObject?) throws -> AnyObject?

    /// A result of `pinGeneration()` while its content is read; `nil` to read the store as it is.
    var readGeneration: AnyObject? { get set }

    /// Lets go of what generations keep on a server, where destroying the store would wait for them. Reading them is an
    /// error from then on.
    func endGenerations()
}

extension PinningEngine {
    package func endGenerations() {}

    package func pinGeneration(holding place: AnyObject?) throws -> AnyObject? { try pinGeneration() }
}

/// Thrown if no more generations can be pinned.
package struct GenerationsInUse: Error {
    /// Waits until there is room, without holding a lock that others need to release theirs.
    package let wait: @Sendable () throws -> AnyObject

    package init(wait: @escaping @Sendable () throws -> AnyObject) { self.wait = wait }
}

/// An engine that is notified of other programs' writes.
package protocol ChangeNotifyingEngine: StoreEngine {
    /// Begins to observe changes.
    ///
    /// - Parameters:
    ///   - whileIdle: runs a check while no other thread uses the engine, without waiting: returns `nil` if one does,
    ///     `false` if there is no observer any more.
    ///   - handler: called after others have changed the store.
    func observeChanges(
        whileIdle: @escaping @Sendable (() -> Bool) -> Bool?, handler: @escaping @Sendable () -> Void)
}

/// An engine for stores that another program may have made, whose tables are matched to the model.
package protocol InspectedEngine: StoreEngine {
    /// The parts of the model that the store does not have, or has ambiguously. Everything else can be used.
    var findings: [SchemaFinding] { get }

    /// The references of a relationship that lead to no object, by the primary keys of the referring objects.
    func danglingReferences(
        of relationship: RelationshipLayout, from entity: EntityLayout
    ) throws -> [Int64: [NSManagedObjectID]]
}

/// An engine whose stores are migrated in place.
package protocol MigratedEngine: StoreEngine {
    /// Removes one table or column whose removal a migration deferred.
    ///
    /// - Returns: whether there was one.
    func finishDeferredTask() throws -> Bool
}

/// An engine that runs statements, and can report them.
package protocol ExplainingEngine: StoreEngine {
    /// The statement for a fetch of rows, with a placeholder for each value.
    func statement(of plan: FetchPlan) throws -> String
}
