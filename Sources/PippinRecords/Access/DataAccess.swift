import CoreData
import Pippin

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
        access = ModelAccess(manager, context)
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
