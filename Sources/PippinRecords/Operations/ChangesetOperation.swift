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
