import Foundation

extension NSNotification.Name {
    /// Posted by a context after objects changed. The user info has the keys of
    /// `NSManagedObjectContext.NotificationKey`.
    public static var NSManagedObjectContextObjectsDidChange: NSNotification.Name {
        SaveNotifications.didChangeForObservers
    }
    /// Posted by a context before it saves.
    public static var NSManagedObjectContextWillSave: NSNotification.Name { SaveNotifications.willSaveForObservers }
    /// Posted by a context after it saved, with the objects.
    public static var NSManagedObjectContextDidSave: NSNotification.Name { SaveNotifications.didSaveForObservers }
    /// Posted by a context after it saved, with the IDs of the objects.
    public static var NSManagedObjectContextDidSaveObjectIDs: NSNotification.Name {
        SaveNotifications.didSaveObjectIDsForObservers
    }
    /// Posted by a context after it merged another's save, with the IDs of the objects.
    public static var NSManagedObjectContextDidMergeChangesObjectIDs: NSNotification.Name {
        SaveNotifications.didMergeForObservers
    }
    /// Posted when a merge concerns faults only, which are not in the notification of changes: fetched results
    /// controllers list faults as well. They are in the context's `MergeState`.
    static let faultsDidChange = NSNotification.Name("PippinManagedObjectContextFaultsDidChange")
}

extension NSManagedObjectContext {
    /// Posted after objects changed.
    public static var didChangeObjectsNotification: Notification.Name { .NSManagedObjectContextObjectsDidChange }
    /// Posted before a save.
    public static var willSaveObjectsNotification: Notification.Name { .NSManagedObjectContextWillSave }
    /// Posted after a save, with the objects.
    public static var didSaveObjectsNotification: Notification.Name { .NSManagedObjectContextDidSave }
    /// Posted after a save, with the IDs of the objects.
    public static var didSaveObjectIDsNotification: Notification.Name { .NSManagedObjectContextDidSaveObjectIDs }
    /// Posted after another context's save was merged, with the IDs of the objects.
    public static var didMergeChangesObjectIDsNotification: Notification.Name {
        .NSManagedObjectContextDidMergeChangesObjectIDs
    }

    /// The keys of the user info of a context's notifications.
    public enum NotificationKey: String, Sendable {
        /// A set of inserted objects.
        case insertedObjects = "inserted"
        /// A set of changed objects.
        case updatedObjects = "updated"
        /// A set of deleted objects.
        case deletedObjects = "deleted"
        /// A set of objects that took new values from the store.
        case refreshedObjects = "refreshed"
        /// A set of objects that lost their values.
        case invalidatedObjects = "invalidated"
        /// The IDs of all objects of a context that was reset.
        case invalidatedAllObjects = "invalidatedAll"
        /// A set of the IDs of inserted objects.
        case insertedObjectIDs = "inserted_objectIDs"
        /// A set of the IDs of changed objects.
        case updatedObjectIDs = "updated_objectIDs"
        /// A set of the IDs of deleted objects.
        case deletedObjectIDs = "deleted_objectIDs"
        /// A set of the IDs of objects that took new values from the store.
        case refreshedObjectIDs = "refreshed_objectIDs"
        /// A set of the IDs of objects that lost their values.
        case invalidatedObjectIDs = "invalidated_objectIDs"
        /// The query generation that the context reads after the save.
        case queryGeneration = "newQueryGeneration"
    }
}

/// In a notification of a context: the inserted objects.
public let NSInsertedObjectsKey = "inserted"
/// In a notification of a context: the changed objects.
public let NSUpdatedObjectsKey = "updated"
/// In a notification of a context: the deleted objects.
public let NSDeletedObjectsKey = "deleted"
/// In a notification of a context: the objects that took new values from the store.
public let NSRefreshedObjectsKey = "refreshed"
/// In a notification of a context: the objects that lost their values.
public let NSInvalidatedObjectsKey = "invalidated"
/// In a notification of a context that was reset: all its objects.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// In a notification of a context: the IDs of the inserted objects.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// In a notification of a context: the IDs of the changed objects.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// In a notification of a context: the IDs of the deleted objects.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// In a notification of a context: the IDs of the objects that took new values from the store.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// In a notification of a context: the IDs of the objects that lost their values.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
/// In a notification of a save by a pinned context: the state of the stores that it reads from now on.
public let NSManagedObjectContextQueryGenerationKey = "newQueryGeneration"
