import Foundation
import Synchronization

/// The names of the notifications of changes and saves, and a record of whether anybody may listen.
///
/// Making sets of objects for notifications takes a fifth of the time of a large save, and `NotificationCenter` does
/// not say whether it has listeners. A listener has to ask for a notification's name first: until somebody does, large
/// changes and saves are posted without their objects.
package enum SaveNews {
    /// For posting, and for listeners that do not need the objects.
    package static let didSave = Notification.Name("NSManagingContextDidSaveChangesNotification")
    static let didSaveObjectIDs = Notification.Name("_NSManagedObjectContextDidSaveObjectIDsNotification")
    static let didChange = Notification.Name("NSObjectsChangedInManagingContextNotification")

    static let didMerge = Notification.Name("NSManagedObjectContextDidMergeChangesObjectIDsNotification")

    private static let savesWereAskedFor = Atomic<Bool>(false)
    private static let changesWereAskedFor = Atomic<Bool>(false)
    private static let mergesWereAskedFor = Atomic<Bool>(false)

    static var didSaveForListeners: Notification.Name {
        savesWereAskedFor.store(true, ordering: .releasing)
        return didSave
    }

    static var didSaveObjectIDsForListeners: Notification.Name {
        savesWereAskedFor.store(true, ordering: .releasing)
        return didSaveObjectIDs
    }

    static var didChangeForListeners: Notification.Name {
        changesWereAskedFor.store(true, ordering: .releasing)
        return didChange
    }

    static var didMergeForListeners: Notification.Name {
        mergesWereAskedFor.store(true, ordering: .releasing)
        return didMerge
    }

    /// Whether anybody may listen to what a merge tells of.
    static var tellsMerges: Bool {
        changesWereAskedFor.load(ordering: .acquiring) || mergesWereAskedFor.load(ordering: .acquiring)
    }

    /// So many objects are always told of: listeners by the name's text, or by none, cannot be known.
    private static let alwaysTold = 1_000

    /// Whether a save's notification includes its objects.
    static func tells(_ count: Int) -> Bool { count <= alwaysTold || savesWereAskedFor.load(ordering: .acquiring) }

    /// Whether the notification of changes includes its objects.
    static func tellsChanges(_ count: Int) -> Bool {
        count <= alwaysTold || changesWereAskedFor.load(ordering: .acquiring)
    }
}
