import Foundation

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
