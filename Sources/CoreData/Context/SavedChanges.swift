import Foundation

/// The IDs of the objects that a save wrote, for other contexts to merge.
package struct SavedChanges: Sendable {
    package var inserted: [NSManagedObjectID] = []
    package var updated: [NSManagedObjectID] = []
    package var deleted: [NSManagedObjectID] = []
    /// Whether deleted objects were removed from the relationships of others, which are then among the changed objects:
    /// a context's save does so, a batch request does not.
    package var followsDeleteRules = false

    package init(
        inserted: [NSManagedObjectID] = [], updated: [NSManagedObjectID] = [], deleted: [NSManagedObjectID] = []
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
    }
}

extension SavedChanges {
    init(_ objects: ChangedObjects) {
        self.init(
            inserted: objects.inserted.map(\.identifier), updated: objects.updated.map(\.identifier),
            deleted: objects.deleted.map(\.identifier))
        followsDeleteRules = true
    }
}

extension SavedChanges {
    /// Reads the sets of a save notification: objects, IDs or URIs.
    init(userInfo: [AnyHashable: Any], coordinator: NSPersistentStoreCoordinator? = nil) {
        func identifiers(_ keys: String...) -> [NSManagedObjectID] {
            for key in keys {
                guard let value = userInfo[key] else { continue }
                return Self.elements(of: value).compactMap { element in
                    switch element {
                    case let identifier as NSManagedObjectID: return identifier
                    case let object as NSManagedObject: return object.identifier
                    case let url as URL: return coordinator?.managedObjectID(forURIRepresentation: url)
                    default: return nil
                    }
                }
            }
            return []
        }
        self.init(
            inserted: identifiers(NSInsertedObjectsKey, NSInsertedObjectIDsKey),
            updated: identifiers(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey),
            deleted: identifiers(NSDeletedObjectsKey, NSDeletedObjectIDsKey))
        // Objects were passed by the context that saved them.
        followsDeleteRules = userInfo[NSDeletedObjectsKey] is Set<NSManagedObject>
    }

    private static func elements(of value: Any) -> [Any] {
        switch value {
        case let set as NSSet: return set.allObjects
        case let array as [Any]: return array
        case let set as Set<AnyHashable>: return set.map(\.base)
        case let set as Set<NSManagedObject>: return Array(set)
        case let set as Set<NSManagedObjectID>: return Array(set)
        default: return []
        }
    }
}
