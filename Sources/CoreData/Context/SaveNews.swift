import Foundation
import Synchronization

/// The names under which contexts tell of saves, and whether anybody may listen.
///
/// Objects for a notification take a quarter of the time of a large save of rows, and `NotificationCenter` does not say whether it has
/// listeners. Who listens has asked for a name first: until then, large saves of rows are told of without their objects.
package enum SaveNews {
    /// For posting, and for listeners that do without objects.
    package static let didSave = Notification.Name("NSManagingContextDidSaveChangesNotification")
    static let didSaveObjectIDs = Notification.Name("_NSManagedObjectContextDidSaveObjectIDsNotification")

    private static let wasAskedFor = Atomic<Bool>(false)

    static var didSaveForListeners: Notification.Name {
        wasAskedFor.store(true, ordering: .releasing)
        return didSave
    }

    static var didSaveObjectIDsForListeners: Notification.Name {
        wasAskedFor.store(true, ordering: .releasing)
        return didSaveObjectIDs
    }

    /// So many objects are always told of: listeners by the name's text, or by none, cannot be known.
    private static let alwaysTold = 1_000

    /// Whether a save of rows tells of its objects.
    static func tells(_ count: Int) -> Bool { count <= alwaysTold || wasAskedFor.load(ordering: .acquiring) }
}
