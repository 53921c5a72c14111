import Foundation

/// What the result of a batch deletion says.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// Whether it worked.
    case resultTypeStatusOnly = 0
    /// The IDs of the deleted objects.
    case resultTypeObjectIDs = 1
    /// How many objects were deleted.
    case resultTypeCount = 2
}

/// Deletes what a fetch request finds in the store, without making objects.
///
/// No context hears of it by itself: give the IDs to
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`. Validation and the delete rules “cascade” and
/// “deny” are not looked at.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    /// What to delete.
    public let fetchRequest: NSFetchRequest<any NSFetchRequestResult>

    /// What the result says. The default is the status.
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly

    /// The kind of request.
    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    /// Creates a request that deletes what a fetch request of any result type finds.
    public init<T>(fetchRequest fetch: NSFetchRequest<T>) {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.take(from: fetch)
        fetchRequest = request
        super.init()
    }

    /// Creates a request that deletes objects by their IDs.
    ///
    /// - Parameter objects: IDs of one entity and its subentities; none deletes nothing.
    public convenience init(objectIDs objects: [NSManagedObjectID]) {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = Self.commonEntity(of: objects)
        request.predicate = NSPredicate(format: "SELF IN %@", objects)
        self.init(fetchRequest: request)
    }

    /// The entity that all IDs are of, or inherit from.
    private static func commonEntity(of objects: [NSManagedObjectID]) -> NSEntityDescription? {
        guard let first = objects.first else { return nil }
        var candidate: EntityLayout? = first.layout
        while let entity = candidate {
            if objects.allSatisfy({ $0.layout.isKind(of: entity) }) { return entity.description }
            candidate = entity.superentity
        }
        programmerError("a batch deletion takes IDs of one entity and its subentities; these are of several")
    }
}

/// What a store answers to a request other than a fetch.
open class NSPersistentStoreResult: NSObject {}

/// What a batch deletion did.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// The IDs, the count (`Int`) or the status (`Bool`), as the request says.
    public let result: Any?
    /// What `result` is.
    public let resultType: NSBatchDeleteRequestResultType

    package init(result: Any?, resultType: NSBatchDeleteRequestResultType) {
        self.result = result
        self.resultType = resultType
    }
}
