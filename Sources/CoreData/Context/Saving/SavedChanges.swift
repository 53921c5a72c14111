import Foundation
import Synchronization

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

/// The names of the notifications of changes and saves, and whether they may have observers.
///
/// Making sets of objects for notifications takes a fifth of the time of a large save, and `NotificationCenter` does
/// not say whether it has observers. An observer has to read a notification's name first: until a program does, large
/// changes and saves are posted without their objects.
package enum SaveNotifications {
    /// For posting, and for observers that do not need the objects.
    static let willSave = Notification.Name("NSManagingContextWillSaveChangesNotification")
    package static let didSave = Notification.Name("NSManagingContextDidSaveChangesNotification")
    static let didSaveObjectIDs = Notification.Name("_NSManagedObjectContextDidSaveObjectIDsNotification")
    static let didChange = Notification.Name("NSObjectsChangedInManagingContextNotification")

    static let didMerge = Notification.Name("NSManagedObjectContextDidMergeChangesObjectIDsNotification")

    private static let willSaveIsObserved = Atomic<Bool>(false)
    private static let savesAreObserved = Atomic<Bool>(false)
    private static let changesAreObserved = Atomic<Bool>(false)
    private static let mergesAreObserved = Atomic<Bool>(false)

    static var willSaveForObservers: Notification.Name {
        willSaveIsObserved.store(true, ordering: .releasing)
        return willSave
    }

    static var didSaveForObservers: Notification.Name {
        savesAreObserved.store(true, ordering: .releasing)
        return didSave
    }

    static var didSaveObjectIDsForObservers: Notification.Name {
        savesAreObserved.store(true, ordering: .releasing)
        return didSaveObjectIDs
    }

    static var didChangeForObservers: Notification.Name {
        changesAreObserved.store(true, ordering: .releasing)
        return didChange
    }

    static var didMergeForObservers: Notification.Name {
        mergesAreObserved.store(true, ordering: .releasing)
        return didMerge
    }

    /// Whether the notifications that a merge posts may have observers.
    static var hasMergeObservers: Bool {
        changesAreObserved.load(ordering: .acquiring) || mergesAreObserved.load(ordering: .acquiring)
    }

    /// Up to this many objects are always included: an observer registered by the name's text, or without a name,
    /// cannot be detected.
    private static let smallCount = 1_000

    /// Whether a save's notification includes its objects.
    static func includesObjects(_ count: Int) -> Bool {
        count <= smallCount || savesAreObserved.load(ordering: .acquiring)
    }

    /// Whether the notification of changes includes its objects.
    static func includesChangedObjects(_ count: Int) -> Bool {
        count <= smallCount || changesAreObserved.load(ordering: .acquiring)
    }

    private static func mayBeObserved(_ name: Notification.Name) -> Bool {
        switch name {
        case willSave: willSaveIsObserved.load(ordering: .acquiring)
        case didSave, didSaveObjectIDs: savesAreObserved.load(ordering: .acquiring)
        case didChange: changesAreObserved.load(ordering: .acquiring)
        default: true
        }
    }

    // MARK: Posting

    /// Held while a notification is posted that probably has no observers.
    ///
    /// Foundation's center guards its observers by a lock that is handed over to the thread that waits longest. If
    /// several threads post at once, each of them then has to wait for a switch of threads at every post: saves of
    /// eight threads took three times the processor time of two. This lock goes to the first thread that takes it, and
    /// a thread that has it may post again: a delegate of a results controller may save.
    private static let postingLock = NSRecursiveLock()
    /// How long, in seconds, a thread waits while another one posts. An observer that cannot be detected may take any
    /// time.
    private static let lockTimeout = 0.001

    /// Posts a notification of a context.
    static func post(_ name: Notification.Name, of context: NSManagedObjectContext, _ info: [AnyHashable: Any]? = nil) {
        let isUnobserved = !mayBeObserved(name)
        let isLocked =
            isUnobserved && (postingLock.try() || postingLock.lock(before: Date(timeIntervalSinceNow: lockTimeout)))
        defer { if isLocked { postingLock.unlock() } }
        NotificationCenter.default.post(name: name, object: context, userInfo: info)
    }
}

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

/// The objects of a save, in the order of their first changes.
struct ChangedObjects {
    var inserted: [NSManagedObject] = []
    var updated: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
    /// Objects that were inserted and deleted without ever being saved.
    var neverSaved: [NSManagedObject] = []

    /// Whether there is nothing to report to others.
    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// The names of the objects' entities.
    var entityNames: Set<String> {
        var names: Set<String> = []
        var last: ObjectIdentifier?
        func note(_ objects: [NSManagedObject]) {
            for object in objects where ObjectIdentifier(object.layout) != last {
                last = ObjectIdentifier(object.layout)
                names.insert(object.layout.name)
            }
        }
        note(inserted)
        note(updated)
        note(deleted)
        return names
    }

    init(_ changed: ContiguousArray<NSManagedObject>) {
        if changed.first?.state.contains(.inserted) ?? false {
            inserted.reserveCapacity(changed.count)
        } else {
            updated.reserveCapacity(changed.count)
        }
        for object in changed {
            let state = object.state
            if state.contains(.deleted) {
                if state.contains(.inserted) { neverSaved.append(object) } else { deleted.append(object) }
            } else if state.contains(.inserted) {
                inserted.append(object)
            } else if state.contains(.updated) {
                updated.append(object)
            }
        }
    }
}
