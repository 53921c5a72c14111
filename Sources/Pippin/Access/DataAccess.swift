import CoreData

/// Everything that is done in one context: structs and records are read and changed, and all changes are saved together, or
/// taken back.
///
/// Blocks get one (`write` and `read` of ``PersistenceManager``):
///
/// ```swift
/// try await manager.write { access in
///     try access.insertOrUpdate(order)
///     try access.delete(basket)
/// }   // saved here, both or none
/// ```
///
/// An app that works with records makes a subclass with its repositories:
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
/// For use on the context's queue; ``perform(_:)`` gets there.
open class DataAccess {
    /// The manager whose container is worked on.
    public let manager: PersistenceManager
    /// The context that is worked in.
    public let context: NSManagedObjectContext

    /// An access to a context.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - context: one of its contexts.
    public required init(manager: PersistenceManager, context: NSManagedObjectContext) {
        self.manager = manager
        self.context = context
    }

    /// An access to the main context, for what is on the screen.
    public class func view(of manager: PersistenceManager) -> Self {
        Self(manager: manager, context: manager.mainContext)
    }

    /// A new access to a context of its own, for work in the background.
    public class func background(of manager: PersistenceManager) -> Self {
        Self(manager: manager, context: manager.workerContext)
    }

    /// Whether there is anything to save.
    public var hasChanges: Bool { context.hasChanges }

    /// Saves the changes, if there are any.
    ///
    /// - Throws: Core Data's errors. The changes are still there then.
    open func save() throws { if context.hasChanges { try context.save() } }

    /// Takes back what has not been saved.
    open func rollback() { context.rollback() }

    /// Runs work on the context's queue, and waits for it.
    ///
    /// - Parameter work: gets this access.
    /// - Throws: what the work throws.
    public func perform<Result>(_ work: (DataAccess) throws -> Result) rethrows -> Result {
        try context.performAndWait { try work(self) }
    }
}

// Structs in this context. Nothing is saved before ``DataAccess/save()``, or the end of a write block.
extension DataAccess {
    /// The models that a filter selects, unsaved changes included.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    ///   - order: the order; without one, it is not determined.
    ///   - limit: the most to fetch.
    ///   - offset: how many to leave out at the start.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    public func fetch<Model: CoreModel & Codable>(
        _ type: Model.Type, where filter: Filter<Model> = .all, sortedBy order: Order<Model> = [], limit: Int? = nil,
        offset: Int = 0
    ) throws -> [Model] {
        let reader = try manager.reader(type)
        return try reader.models(try reader.selection(filter, order, limit, offset), ObjectRows(context))
    }

    /// The model with that identifier, unsaved changes included.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - uid: the identifier.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `init(from:)` throws.
    public func fetch<Model: CoreModel & Codable>(_ type: Model.Type, uid: Model.UidType) throws -> Model? {
        let reader = try manager.reader(type)
        return try reader.models(reader.selection(uid: uid), ObjectRows(context)).first
    }

    /// Inserts models, or changes those with known identifiers, with the models in them.
    ///
    /// - Parameter models: the models.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `encode(to:)` throws. Nothing is changed then.
    public func insertOrUpdate<Model: CoreModel & Codable>(_ models: [Model]) throws {
        var writer = GraphWriter(try ModelGraph(models, registry: manager.registry), context)
        try writer.write()
    }

    /// Inserts a model, or changes the one with its identifier, with the models in it.
    ///
    /// - Parameter model: the model.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `encode(to:)` throws. Nothing is changed then.
    public func insertOrUpdate<Model: CoreModel & Codable>(_ model: Model) throws { try insertOrUpdate([model]) }

    /// Deletes a model, and what belongs to it.
    ///
    /// - Parameter model: the model; only its identifier matters.
    /// - Returns: whether it was there.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    @discardableResult
    public func delete<Model: CoreModel & Codable>(_ model: Model) throws -> Bool {
        try delete(Model.self, uids: [model.uid]) == 1
    }

    /// Deletes the models with these identifiers, and what belongs to them.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - uids: the identifiers.
    /// - Returns: how many models were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    @discardableResult
    public func delete<Model: CoreModel & Codable>(_ type: Model.Type, uids: [Model.UidType]) throws -> Int {
        let plan = try manager.registry.plan(of: type)
        let objects = try plan.objects(uids: uids.map(\.attributeValue), in: context).values
        for object in objects { context.delete(object) }
        return objects.count
    }
}
