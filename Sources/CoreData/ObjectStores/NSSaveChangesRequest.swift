import Foundation

/// The request that an incremental store receives when a context is saved.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// New objects, with permanent IDs.
    open private(set) var insertedObjects: Set<NSManagedObject>?
    /// Changed objects; `changedValues()` says what changed.
    open private(set) var updatedObjects: Set<NSManagedObject>?
    /// Objects to delete.
    open private(set) var deletedObjects: Set<NSManagedObject>?
    /// Unchanged objects whose versions are to be checked.
    open private(set) var lockedObjects: Set<NSManagedObject>?

    /// The type of the request: `saveRequestType`.
    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - insertedObjects: new objects.
    ///   - updatedObjects: changed objects.
    ///   - deletedObjects: objects to delete.
    ///   - lockedObjects: unchanged objects whose versions are to be checked.
    public init(
        inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
    ) {
        self.insertedObjects = insertedObjects
        self.updatedObjects = updatedObjects
        self.deletedObjects = deletedObjects
        self.lockedObjects = lockedObjects
        super.init()
    }

    /// Returns a copy of the request.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy, which can be changed on its own.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSSaveChangesRequest(
            inserted: insertedObjects, updated: updatedObjects, deleted: deletedObjects, locked: lockedObjects)
        copy.affectedStoreObjects = affectedStoreObjects
        return copy
    }
}
