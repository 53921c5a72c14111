import Foundation

/// The kind of a request to a store. The raw values are Apple's.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    /// Fetch objects, IDs, dictionaries or a count.
    case fetchRequestType = 1
    /// Save changes.
    case saveRequestType = 2
    /// Insert rows without objects.
    case batchInsertRequestType = 5
    /// Update rows without objects.
    case batchUpdateRequestType = 6
    /// Delete rows without objects.
    case batchDeleteRequestType = 7
}

/// A request that a context sends to its stores: the common part of fetches, saves and batch changes.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores to ask; `nil` for all; see `affectedStores`.
    package var affectedStoreObjects: [AnyObject]?

    /// The kind of the request.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Creates a request; use one of the subclasses instead.
    public override init() { super.init() }

    /// Returns a copy of the request.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy, which can be changed on its own.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreRequest()
        copy.affectedStoreObjects = affectedStoreObjects
        return copy
    }
}
