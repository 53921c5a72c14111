import CoreDataModel

/// An engine that can combine many saves into one transaction.
package protocol LongTransactionEngine: StoreEngine {
    /// Begins a transaction that includes all saves until it ends.
    ///
    /// - Parameters:
    ///   - makesIndexesLater: drops all indexes, so that `makeIndexes()` creates them once the rows exist.
    ///   - source: the store whose rows are copied, if they are copies: values of derived attributes are then taken
    ///     from it, and not computed, and indexes that it does not have are not made, except for those of constraints,
    ///     as far as the engine can do that.
    /// - Throws: the errors of the stores.
    func beginLongTransaction(makesIndexesLater: Bool, copying source: (any StoreEngine)?) throws

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
        try beginLongTransaction(makesIndexesLater: makesIndexesLater, copying: nil)
    }
}
