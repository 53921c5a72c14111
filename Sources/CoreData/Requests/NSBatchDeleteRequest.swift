import Foundation
import StoreSession

/// The content of a batch deletion's result.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// Whether it succeeded.
    case resultTypeStatusOnly = 0
    /// The IDs of the deleted objects.
    case resultTypeObjectIDs = 1
    /// The number of deleted objects.
    case resultTypeCount = 2
}

/// Deletes the results of a fetch request directly in the store: `DELETE FROM ZCAR AS t0 WHERE …`.
///
/// Delete rules are applied in the store too: “nullify” clears the references to the deleted rows, “cascade” deletes
/// further rows, and “deny” refuses the request, as does a reference that would have to be cleared and is not optional.
/// No other validation runs, and no context is informed: pass the IDs to
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    /// The request for the objects to delete: a copy of the one that was passed, for IDs and without pending changes.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult> { fetch }
    private let fetch: NSFetchRequest<any NSFetchRequestResult>
    private let identifiers: [NSManagedObjectID]?

    /// The content of the result. The default is the status.
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly

    /// The kind of request.
    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    /// Creates a request that deletes the results of a fetch request.
    ///
    /// ```swift
    /// let old = NSFetchRequest<any NSFetchRequestResult>(entityName: "Message")
    /// old.predicate = NSPredicate(format: "sent < %@", limit as NSDate)
    /// let deletion = NSBatchDeleteRequest(fetchRequest: old)
    /// deletion.resultType = .resultTypeCount
    /// let count = (try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int
    /// ```
    ///
    /// - Parameter fetch: the request for the objects to delete; it is copied, and its result type does not matter.
    public convenience init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
        self.init(Self.copy(of: fetch), identifiers: nil)
    }

    /// Creates a request that deletes the results of a fetch request of any result type.
    ///
    /// - Parameter fetch: the request for the objects to delete; it is copied, and its result type does not matter.
    public convenience init<T>(fetchRequest fetch: NSFetchRequest<T>) {
        self.init(Self.copy(of: fetch), identifiers: nil)
    }

    /// A request for the same objects that asks for their IDs alone, as the store has them.
    private static func copy(of fetch: any FetchDescription) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.take(from: fetch)
        request.resultType = .managedObjectIDResultType
        request.includesPropertyValues = false
        request.includesPendingChanges = false
        request.shouldRefreshRefetchedObjects = false
        request.propertiesToFetch = nil
        request.relationshipKeyPathsForPrefetching = nil
        request.fetchBatchSize = 0
        return request
    }

    /// Creates a request that deletes objects by their IDs.
    ///
    /// - Parameter objects: IDs of one entity and its subentities; an empty array deletes nothing. Executing a request
    ///   with others throws.
    public convenience init(objectIDs objects: [NSManagedObjectID]) {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = Self.commonEntity(of: objects)
        request.predicate = NSPredicate(format: "SELF IN %@", objects)
        self.init(Self.copy(of: request), identifiers: objects)
    }

    private init(_ fetchRequest: NSFetchRequest<any NSFetchRequestResult>, identifiers: [NSManagedObjectID]?) {
        fetch = fetchRequest
        self.identifiers = identifiers
        super.init()
    }

    /// Returns a copy of the request.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy, which can be changed on its own.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchDeleteRequest(Self.copy(of: fetchRequest), identifiers: identifiers)
        copy.affectedStoreObjects = affectedStoreObjects
        copy.resultType = resultType
        return copy
    }

    /// The entity that all IDs are of, or inherit from; `nil` if there is none.
    private static func commonEntity(of objects: [NSManagedObjectID]) -> NSEntityDescription? {
        guard let first = objects.first else { return nil }
        var candidate: EntityLayout? = first.layout
        while let entity = candidate {
            if objects.allSatisfy({ $0.layout.isKind(of: entity) }) { return entity.description }
            candidate = entity.superentity
        }
        return nil
    }

    /// - Throws: `NSPersistentStoreOperationError` if there are IDs of several entities.
    func checkEntity() throws {
        guard fetchRequest.entityName == nil, let identifiers, !identifiers.isEmpty else { return }
        let names = Set(identifiers.map(\.layout.name)).sorted().joined(separator: ", ")
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOperation,
            "A batch deletion takes IDs of one entity and its subentities; these are of \(names).", url: nil)
    }
}

extension NSBatchDeleteRequest: ExecutableRequest {
    func execute(in source: NSPersistentStoreCoordinator, for context: NSManagedObjectContext) throws -> Any {
        try checkEntity()
        var outcome = BatchOutcome()
        if fetchRequest.entityName != nil {
            var plan = BatchDeletePlan(rows: context.plan(for: fetchRequest, try context.entity(of: fetchRequest)))
            plan.identifiers = identifiers?.map { $0.isTemporaryID ? context.localIdentifier($0) : $0 }
            plan.wantsIdentifiers = resultType == .resultTypeObjectIDs
            plan.origin = try context.changeOrigin()
            outcome = try source.session.deleteBatch(
                plan, stores: (affectedStores ?? fetchRequest.affectedStores)?.map(\.sessionStore))
        }
        return NSBatchDeleteResult(result: outcome.result(resultType.rawValue), resultType: resultType)
    }
}

/// The result of a batch deletion.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// The IDs, the count (`Int`) or the status (`Bool`), depending on `resultType`.
    open var result: Any? { storedResult }
    /// The kind of `result`.
    open var resultType: NSBatchDeleteRequestResultType { storedType }

    private let storedResult: Any?
    private let storedType: NSBatchDeleteRequestResultType

    /// Creates a result without content, for subclasses that stand in for one in tests.
    public override init() { (storedResult, storedType) = (nil, .resultTypeStatusOnly) }

    package init(result: Any?, resultType: NSBatchDeleteRequestResultType) {
        storedResult = result
        storedType = resultType
    }
}
