import CoreDataModel

/// An engine that numbers its rows, so that rows can bring their own keys along.
package protocol KeyedEngine: StoreEngine {
    /// Counts on from a key, so that objects that bring their own keys do not meet new ones.
    func reserveKeys(upTo key: Int64, of root: EntityLayout) throws
}

/// An engine that changes rows without handing them out, in one transaction each.
package protocol BatchEngine: StoreEngine {
    /// Writes new rows, or nothing.
    ///
    /// - Parameters:
    ///   - plan: the entity and the properties that get values.
    ///   - next: fills in the next row; false when there is none.
    /// - Returns: what was inserted.
    /// - Throws: what `next` throws, and the errors of the store.
    func insertBatch(_ plan: BatchInsertPlan, next: (inout BatchRow) throws -> Bool) throws -> BatchOutcome

    /// Changes rows.
    func updateBatch(_ plan: BatchUpdatePlan) throws -> BatchOutcome

    /// Deletes rows as the delete rules say.
    func deleteBatch(_ plan: BatchDeletePlan) throws -> BatchOutcome
}

/// An engine that makes one transaction of many saves.
package protocol LongTransactionEngine: StoreEngine {
    /// Opens a transaction that takes in all saves until it ends.
    ///
    /// - Parameter makesIndexesLater: drops all indexes, for `makeIndexes()` to make when the rows are there.
    /// - Throws: the errors of the store.
    func beginLongTransaction(makesIndexesLater: Bool) throws

    /// Makes the indexes that were left for later; those whose rows share values that must be unique are left once more.
    func makeIndexes() throws

    /// Rows that share values which must be unique; none where all indexes are there.
    ///
    /// - Parameter limit: how many groups of rows, and how many of each, to look for.
    /// - Returns: the groups, each with its constraint.
    /// - Throws: an error that names an index which is missing.
    func sharedUniqueValues(limit: Int) throws -> [(constraint: [String], rows: [NSManagedObjectID])]

    /// Gives all rows the version of new ones.
    func resetVersions() throws

    /// Ends it; nothing happens where there is none.
    ///
    /// - Throws: what the store reports; then nothing of the transaction is there.
    func endLongTransaction(commits: Bool) throws
}

/// An engine of a store that other coordinators and programs may write to.
package protocol SharedEngine: StoreEngine {
    /// A number that changes when somebody else saves to the store.
    func changeCount() throws -> Int64

    /// What `changeCount()` has to be for what is written now; `nil` where that does not matter.
    var expectedChanges: Int64? { get set }

    /// Keeps others from saving to the store, until something is saved here or `letOthersIn()`.
    func keepOthersOut() throws

    /// Keeps others from saving, as `keepOthersOut()` does, unless the caller would have to wait: for another program's lock, for readers of
    /// the file, or for a server.
    ///
    /// - Returns: whether others are kept out.
    func keepOthersOutUnlessBusy() throws -> Bool

    /// Lets others save again.
    func letOthersIn()
}

/// Says that a store was changed by others when it should not have been.
package struct UnexpectedChange: Error {
    package init() {}
}

/// An engine that keeps a history of what was saved.
package protocol HistoryEngine: StoreEngine {
    /// The transactions after a place, in their order.
    func historyTransactions(after start: HistoryPosition?) throws -> [HistoryTransactionRow]

    /// The changes of the transactions after a place, in their order.
    func historyChanges(after start: HistoryPosition?) throws -> [HistoryChangeRow]

    /// Deletes the transactions before a place; `nil` for all.
    func deleteHistory(before end: HistoryPosition?) throws

    /// The number of the latest transaction, 0 before the first one.
    func latestTransaction() throws -> Int64

    /// The number of the oldest transaction that has not been deleted; `nil` where there is none.
    func oldestKeptTransaction() throws -> Int64?
}

/// An engine whose state at a moment can be read while others write.
package protocol PinningEngine: StoreEngine {
    /// Keeps what the store holds now readable, for as long as the result is there; `nil` where it cannot.
    func pinGeneration() throws -> AnyObject?

    /// The same for a caller that can wait until others let go of what they hold.
    ///
    /// - Parameter place: what waiting gave; `nil` for who has not waited.
    /// - Returns: what keeps it readable.
    /// - Throws: ``GenerationsInUse`` where waiting helps.
    func pinGeneration(holding place: AnyObject?) throws -> AnyObject?

    /// What `pinGeneration()` gave, while that is to be read; `nil` to read the store as it is.
    var readGeneration: AnyObject? { get set }
}

extension PinningEngine {
    package func pinGeneration(holding place: AnyObject?) throws -> AnyObject? { try pinGeneration() }
}

/// As many generations are pinned as can be.
package struct GenerationsInUse: Error {
    /// Waits until there is a place, holding no lock that others need to let go of theirs.
    package let wait: @Sendable () throws -> AnyObject

    package init(wait: @escaping @Sendable () throws -> AnyObject) { self.wait = wait }
}

/// An engine that hears of what other programs write.
package protocol NewsEngine: StoreEngine {
    /// Listens from now on.
    ///
    /// - Parameters:
    ///   - asking: runs a question to the engine, waiting for nobody: `nil` while somebody else asks the engine, `false` when nobody is
    ///     there to hear any more.
    ///   - heard: called after somebody has changed the store.
    func listen(asking: @escaping @Sendable (() -> Bool) -> Bool?, heard: @escaping @Sendable () -> Void)
}

/// An engine of stores that somebody else may have made, whose tables are matched to the model.
package protocol InspectedEngine: StoreEngine {
    /// The parts of the model that the store does not have, or has ambiguously. Everything else can be used.
    var findings: [SchemaFinding] { get }

    /// The references of a relationship that lead to no object, by the primary keys of the objects that have them.
    func danglingReferences(
        of relationship: RelationshipLayout, from entity: EntityLayout
    ) throws -> [Int64: [NSManagedObjectID]]
}

/// An engine whose store is migrated in its place.
package protocol MigratedEngine: StoreEngine {
    /// Removes one thing that a migration left for later.
    ///
    /// - Returns: whether there was one.
    func finishDeferredTask() throws -> Bool
}

/// An engine that answers by statements, and can say which.
package protocol ExplainingEngine: StoreEngine {
    /// The statement that a fetch of rows runs, with a place for each value.
    func statement(of plan: FetchPlan) throws -> String
}
