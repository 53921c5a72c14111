import CoreData
import Pippin

/// The objects that some work inserted, updated and deleted.
public struct Changeset: Sendable, Equatable {
    /// The IDs of the inserted objects.
    public internal(set) var inserted: Set<NSManagedObjectID> = []
    /// The IDs of the objects with new values.
    public internal(set) var updated: Set<NSManagedObjectID> = []
    /// The IDs of the deleted objects.
    public internal(set) var deleted: Set<NSManagedObjectID> = []

    /// An empty changeset.
    public init() {}

    /// Whether nothing was changed.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// Adds the changes of a context that is about to be saved.
    mutating func add(changesOf context: NSManagedObjectContext) throws {
        context.processPendingChanges()
        // An object in both is neither written nor deleted.
        let (new, gone) = (context.insertedObjects, context.deletedObjects)
        try context.obtainPermanentIDs(for: Array(new.subtracting(gone)))
        inserted.formUnion(new.subtracting(gone).map(\.objectID))
        updated.formUnion(context.updatedObjects.map(\.objectID))
        deleted.formUnion(gone.subtracting(new).map(\.objectID))
        updated.subtract(inserted)
    }
}

/// An operation that makes changes, and whose result is the set of changed objects.
///
/// ```swift
/// let aging = ChangesetOperation(manager: manager) { context in
///     for person in try PersonRecord.all(in: context) { person.age += 1 }
/// }
/// ```
open class ChangesetOperation: DataOperation<Changeset>, @unchecked Sendable {
    // @unchecked Sendable: like its superclass.
    private let changes: (@Sendable (NSManagedObjectContext) throws -> Void)?

    /// An operation for a subclass, which overrides ``performChanges(in:)``.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - mergePolicy: the merge policy of the save; without one, the manager's.
    public override init(manager: PersistenceManager, mergePolicy: NSMergePolicy? = nil) {
        changes = nil
        super.init(manager: manager, mergePolicy: mergePolicy)
    }

    /// An operation that runs a closure.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - mergePolicy: the merge policy of the save; without one, the manager's.
    ///   - changes: receives the operation's context, on its queue.
    public init(
        manager: PersistenceManager, mergePolicy: NSMergePolicy? = nil,
        changes: @escaping @Sendable (NSManagedObjectContext) throws -> Void
    ) {
        self.changes = changes
        super.init(manager: manager, mergePolicy: mergePolicy)
    }

    /// Makes the changes. It is called on the context's queue; the changes are saved when it returns.
    ///
    /// - Parameter context: the operation's context.
    /// - Throws: the operation's error; nothing is saved then.
    open func performChanges(in context: NSManagedObjectContext) throws {
        guard let changes else { throw PersistenceError.noWork(operation: "\(type(of: self))") }
        try changes(context)
    }

    /// Makes the changes, and returns them.
    ///
    /// - Parameter context: the context to save into.
    /// - Returns: the identifiers of what was inserted, updated and deleted.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what the conversion of a model throws.
    open override func performWork(in context: NSManagedObjectContext) throws -> Changeset {
        try performChanges(in: context)
        var changeset = Changeset()
        try changeset.add(changesOf: context)
        return changeset
    }
}

/// Saves models into records, batch by batch: models with stored identifiers are updated, the others inserted.
///
/// ```swift
/// let importing = ImportOperation(manager: manager, entity: PersonRecord.self, models: people)
/// queue.addOperation(importing)
/// ```
///
/// Properties are set first, then relations (``RecordFromModel/relationsFromModel(_:)``). Each batch is saved as a
/// whole; cancelling keeps the finished batches. The progress counts models.
open class ImportOperation<Record: RecordFromModel>: DataOperation<Changeset>, @unchecked Sendable
where Record.ModelType: Sendable {
    // @unchecked Sendable: like its superclass.
    private let models: @Sendable () throws -> [Record.ModelType]
    private let batchSize: Int

    /// An import of given models.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - entity: the record type.
    ///   - models: the models. If two in a batch have the same identifier, the later one's values are saved.
    ///   - batchSize: how many to save at a time.
    public convenience init(
        manager: PersistenceManager, entity: Record.Type, models: [Record.ModelType], batchSize: Int = 500
    ) { self.init(manager: manager, entity: entity, batchSize: batchSize) { models } }

    /// An import of one model.
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - entity: the record type.
    ///   - model: the model.
    public convenience init(manager: PersistenceManager, entity: Record.Type, model: Record.ModelType) {
        self.init(manager: manager, entity: entity) { [model] }
    }

    /// An import of models that another operation provides, on which this one depends.
    ///
    /// ```swift
    /// let importing = ImportOperation(manager: manager, entity: PersonRecord.self) { try download.result?.get() ?? [] }
    /// importing.addDependency(download)
    /// ```
    ///
    /// - Parameters:
    ///   - manager: the manager.
    ///   - entity: the record type.
    ///   - batchSize: how many to save at a time.
    ///   - input: returns the models when the operation begins.
    public init(
        manager: PersistenceManager, entity: Record.Type, batchSize: Int = 500,
        input: @escaping @Sendable () throws -> [Record.ModelType]
    ) {
        models = input
        self.batchSize = max(batchSize, 1)
        super.init(manager: manager)
    }

    /// Saves the models, batch by batch.
    ///
    /// - Parameter context: the context to save into.
    /// - Returns: the identifiers of what was inserted, updated and deleted.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what the conversion of a model throws.
    open override func performWork(in context: NSManagedObjectContext) throws -> Changeset {
        let models = try models()
        progress.totalUnitCount = Int64(max(models.count, 1))
        var changeset = Changeset()
        for batch in models.portions(of: batchSize) {
            try checkCancellation()
            _ = try Record.records(from: Array(batch), in: context)
            try changeset.add(changesOf: context)
            try saveBatch(in: context)
            progress.completedUnitCount += Int64(batch.count)
        }
        return changeset
    }
}
