import Foundation
import StoreSession

/// The content of a batch update's result.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// Whether it succeeded.
    case statusOnlyResultType = 0
    /// The IDs of the updated objects.
    case updatedObjectIDsResultType = 1
    /// The number of updated objects.
    case updatedObjectsCountResultType = 2
}

/// Changes properties of many objects directly in the store: `UPDATE ZCAR AS t0 SET ZPRICE = ?, Z_OPT = t0.Z_OPT + 1
/// WHERE …`.
///
/// Nothing is validated, inverse relationships are not updated, and no context is informed: pass the IDs to
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    private let name: String
    private let storedEntity: NSEntityDescription?

    /// Creates a request for the objects of an entity, which is looked up in the context that runs the request.
    ///
    /// ```swift
    /// let update = NSBatchUpdateRequest(entityName: "Message")
    /// update.predicate = NSPredicate(format: "isRead == NO")
    /// update.propertiesToUpdate = ["isRead": true]
    /// try context.execute(update)
    /// ```
    ///
    /// - Parameter entityName: the name of the entity.
    public init(entityName: String) {
        name = entityName
        storedEntity = nil
        super.init()
    }

    /// Creates a request for the objects of an entity.
    ///
    /// - Parameter entity: an entity of the model of the context that runs the request.
    public init(entity: NSEntityDescription) {
        name = entity.name ?? ""
        storedEntity = entity
        super.init()
    }

    /// The name of the entity.
    open var entityName: String { name }

    /// The entity. A request made with a name looks it up in the models in use; if there is none, the program stops.
    open var entity: NSEntityDescription {
        if let storedEntity { return storedEntity }
        guard let found = ManagedClasses.entity(named: name) else {
            programmerError("no model in use has an entity “\(name)”")
        }
        return found
    }

    /// The condition on the objects to update; `nil` for all.
    open var predicate: NSPredicate?

    /// Whether objects of subentities are updated too. The default is `true`.
    open var includesSubentities = true

    /// The new values: by name or `NSPropertyDescription`, a value, `NSNull`, or an `NSExpression` of the row's other
    /// values. A to-one relationship takes an object or an `NSManagedObjectID`.
    open var propertiesToUpdate: [AnyHashable: Any]?

    /// The content of the result. The default is the status.
    open var resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType

    /// The kind of request.
    open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    /// Returns a copy of the request.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy, which can be changed on its own.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = storedEntity.map { NSBatchUpdateRequest(entity: $0) } ?? NSBatchUpdateRequest(entityName: name)
        copy.affectedStoreObjects = affectedStoreObjects
        copy.predicate = predicate
        copy.includesSubentities = includesSubentities
        copy.propertiesToUpdate = propertiesToUpdate
        copy.resultType = resultType
        return copy
    }
}

extension NSBatchUpdateRequest: ExecutableRequest {
    func execute(in source: NSPersistentStoreCoordinator, for context: NSManagedObjectContext) throws -> Any {
        let layout = try context.entity(named: entityName, for: "A batch update")
        var rows = FetchPlan(entity: layout)
        rows.includesSubentities = includesSubentities
        rows.predicate = predicate.map { context.withCurrentIdentifiers($0).read(for: layout) }
        var plan = BatchUpdatePlan(rows: rows)
        plan.changes = try BatchChanges.changes(propertiesToUpdate ?? [:], of: layout)
        plan.wantsIdentifiers = resultType == .updatedObjectIDsResultType
        plan.origin = try context.changeOrigin()
        let outcome = try source.session.updateBatch(plan, stores: affectedStores?.map(\.sessionStore))
        return NSBatchUpdateResult(result: outcome.result(resultType.rawValue), resultType: resultType)
    }
}

/// The result of a batch update.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// The IDs, the count (`Int`) or the status (`Bool`), depending on `resultType`.
    open var result: Any? { storedResult }
    /// The kind of `result`.
    open var resultType: NSBatchUpdateRequestResultType { storedType }

    private let storedResult: Any?
    private let storedType: NSBatchUpdateRequestResultType

    /// Creates a result without content, for subclasses that stand in for one in tests.
    public override init() { (storedResult, storedType) = (nil, .statusOnlyResultType) }

    package init(result: Any?, resultType: NSBatchUpdateRequestResultType) {
        storedResult = result
        storedType = resultType
    }
}

extension NSSaveChangesRequest: ExecutableRequest {
    /// Saves the context, which determines itself what is to be written: a request for only a part of its changes is
    /// refused.
    func execute(in source: NSPersistentStoreCoordinator, for context: NSManagedObjectContext) throws -> Any {
        let asked = [insertedObjects, updatedObjects, deletedObjects].reduce(into: Set<NSManagedObject>()) {
            $0.formUnion($1 ?? [])
        }
        let changed = context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects)
        guard asked == changed else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreUnsupportedRequestType,
                "A save request has \(asked.count) objects, and its context \(changed.count) with changes: only all changes of a "
                    + "context can be saved.", suggestion: "Call save() of the context.")
        }
        try context.save()
        return [Any]()
    }
}
