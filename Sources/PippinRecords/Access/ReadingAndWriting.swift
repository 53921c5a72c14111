import CoreData
import Pippin

// Blocks in contexts.
extension PersistenceManager {
    /// Runs a block that changes things in a context of yours, and saves the context. If that fails, the context is as
    /// it was before.
    ///
    /// A context of yours is not a transaction, since it may hold objects that were read long ago. Its merge policy
    /// settles conflicts object by object. Blocks without a context are transactions.
    ///
    /// - Parameters:
    ///   - context: the context to work in. Its other changes are saved too.
    ///   - work: runs on the context's queue.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws, and ``PersistenceError``.
    @discardableResult
    public func write<Result: Sendable>(
        in context: NSManagedObjectContext, _ work: @escaping @Sendable (DataAccess) throws -> Result
    ) async throws -> Result {
        try await writing(in: context) { try work(DataAccess(manager: self, context: $0)) }
    }

    /// Runs a block that changes things in a context of yours, and saves the context, as the `async` form does, and
    /// waits for it.
    ///
    /// - Parameters:
    ///   - context: the context to work in. Its other changes are saved too.
    ///   - work: runs on the context's queue.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws, and ``PersistenceError``.
    @discardableResult
    public func writeAndWait<Result>(
        in context: NSManagedObjectContext, _ work: (DataAccess) throws -> Result
    ) throws -> Result {
        try writing(in: context) { try work(DataAccess(manager: self, context: $0)) }
    }

    /// Runs a block that reads in a context, including its unsaved changes. If the block makes changes, saving them is
    /// up to you.
    ///
    /// - Parameters:
    ///   - context: the context to read.
    ///   - work: runs on the context's queue.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws.
    public func read<Result: Sendable>(
        in context: NSManagedObjectContext, _ work: @escaping @Sendable (DataAccess) throws -> Result
    ) async throws -> Result {
        try await reading(in: context) { try work(DataAccess(manager: self, context: $0)) }
    }

    /// Runs a block that reads in a context, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - context: the context to read; without one, ``contextForThread()``. A change that the block leaves in that
    ///     one is rolled back, with an error.
    ///   - work: runs on the context's queue.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws, and ``PersistenceError/Code/changedInRead``.
    public func readAndWait<Result>(
        in context: NSManagedObjectContext?, _ work: (DataAccess) throws -> Result
    ) throws -> Result {
        try reading(in: context) { try refusingChanges($0, isCallers: context != nil, work) }
    }

    /// Runs a block that reads. Changes in a context of the caller's are left to the caller; changes in one of the
    /// manager's are rolled back, with an error, unless they were there before.
    private func refusingChanges<Result>(
        _ context: NSManagedObjectContext, isCallers: Bool, _ work: (DataAccess) throws -> Result
    ) throws -> Result {
        let hadChanges = context.hasChanges
        let result: Result
        do { result = try work(DataAccess(manager: self, context: context)) } catch {
            if !isCallers, !hadChanges { context.rollback() }
            throw error
        }
        guard !isCallers, !hadChanges else { return result }
        // An object that was made and deleted again is no change.
        if context.hasChanges { context.processPendingChanges() }
        guard context.hasChanges else { return result }
        let changed = context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects)
        let entities = Set(changed.compactMap(\.entity.name)).sorted()
        context.rollback()
        throw PersistenceError.changedInRead(entities: entities)
    }
}

extension ModelWriter {
    /// The context of the block, on whose queue it runs: for managed objects and repositories.
    ///
    /// - Throws: the error of a store that can no longer be read.
    public var context: NSManagedObjectContext {
        get throws { try access.context() }
    }
}
