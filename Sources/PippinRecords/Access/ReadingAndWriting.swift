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
        // An object that was made and deleted again is not a change.
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
        get throws {
            _ = PersistenceManager.usesObjects
            guard let objects = try access.objectSource() as? ContextObjects else {
                throw PersistenceError(.notOpened, "The block has objects of another kind than a context's.")
            }
            return objects.context
        }
    }
}

/// Access to one context: structs and records are read and changed, and all changes are saved together, or rolled back.
///
/// Blocks that run in a context of yours receive one:
///
/// ```swift
/// try await manager.write(in: context) { access in
///     try access.save(order)
///     access.context.delete(basket)
/// }   // saved here, both or none
/// ```
///
/// An app that works with records can add its repositories in a subclass:
///
/// ```swift
/// final class ShopAccess: DataAccess {
///     lazy var books = Repository<BookRecord, String>(context: context)
///     lazy var authors = Repository<AuthorRecord, UUID>(context: context)
/// }
///
/// let view = ShopAccess.view(of: manager)
/// let background = ShopAccess.background(of: manager)
/// ```
///
/// For use on the context's queue; `perform` runs work there.
open class DataAccess: ModelWriter {
    /// The manager that the context belongs to.
    public let manager: PersistenceManager
    /// The context.
    public let context: NSManagedObjectContext
    /// The access to structs, which are read from the context and written to it.
    public let access: ModelAccess

    /// An access to a context.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - context: one of its contexts.
    public required init(manager: PersistenceManager, context: NSManagedObjectContext) {
        self.manager = manager
        self.context = context
        access = ModelAccess(manager, ContextObjects(context, manager.registry))
    }

    /// An access to the main context, for data on the screen.
    ///
    /// - Parameter manager: a loaded manager.
    /// - Returns: the access to the main context.
    public class func view(of manager: PersistenceManager) -> Self {
        Self(manager: manager, context: manager.mainContext)
    }

    /// A new access to a context of its own, for work in the background.
    ///
    /// - Parameter manager: a loaded manager.
    /// - Returns: an access with a context and a queue of its own.
    public class func background(of manager: PersistenceManager) -> Self {
        Self(manager: manager, context: manager.makeWorker())
    }

    /// Whether there is anything to save.
    public var hasChanges: Bool { context.hasChanges }

    /// Saves the changes, if there are any.
    ///
    /// - Throws: ``PersistenceError``. The changes then remain unsaved in the context.
    open func save() throws { try manager.save(context) }

    /// Discards the unsaved changes.
    open func rollback() { context.rollback() }
}

/// A ``DataAccess`` whose `perform` passes the subclass to its block.
public protocol ContextAccess: DataAccess {}

extension DataAccess: ContextAccess {}

extension ContextAccess {
    /// Runs work on the context's queue, and waits for it.
    ///
    /// - Parameter work: receives this access.
    /// - Returns: what the work returns.
    /// - Throws: what the work throws.
    public func perform<Result>(_ work: (Self) throws -> Result) rethrows -> Result {
        try context.performAndWait { try work(self) }
    }

    /// Runs work on the context's queue, off the calling thread.
    ///
    /// - Parameter work: receives this access.
    /// - Returns: what the work returns.
    /// - Throws: what the work throws.
    public func perform<Result: Sendable>(_ work: @escaping @Sendable (Self) throws -> Result) async throws -> Result {
        let access = UncheckedTransfer(value: self)
        return try await manager.perform(in: context) { _ in try work(access.value) }
    }
}

// Methods with completion handlers, for code that is not asynchronous and does not wait. The handlers are called on the
// main thread.
extension PersistenceManager {
    /// Opens the store, as `load` does.
    ///
    /// - Parameters:
    ///   - plan: how stores of older versions are migrated to this one.
    ///   - progress: shows how far the migration is, and can cancel it; complete when the store is open.
    ///   - completion: receives the error, if there was one.
    public func load(
        migratingBy plan: MigrationPlan? = nil, progress: Progress? = nil,
        completion: @escaping @MainActor @Sendable ((any Error)?) -> Void
    ) {
        tell({ result in
            switch result {
            case .success: completion(nil)
            case .failure(let error): completion(error)
            }
        }) { try await self.load(migratingBy: plan, progress: progress) }
    }

    /// Runs a block that reads, as `read` does.
    ///
    /// - Parameters:
    ///   - work: asks the access that it is given.
    ///   - completion: receives what the block returned, or the error.
    public func read<Value: Sendable>(
        _ work: @escaping @Sendable (ReadAccess) throws -> Value,
        completion: @escaping @MainActor @Sendable (Result<Value, any Error>) -> Void
    ) { tell(completion) { try await self.read(work) } }

    /// Runs a block that changes things, and saves its changes, as `write` does.
    ///
    /// - Parameters:
    ///   - onConflict: what to do if others have saved in between. By default the block runs again.
    ///   - work: asks and changes what it is given.
    ///   - completion: receives what the block returned, or the error.
    public func write<Value: Sendable>(
        onConflict: WriteConflictPolicy = .retry, _ work: @escaping @Sendable (WriteAccess) throws -> Value,
        completion: @escaping @MainActor @Sendable (Result<Value, any Error>) -> Void
    ) { tell(completion) { try await self.write(onConflict: onConflict, work) } }
}
