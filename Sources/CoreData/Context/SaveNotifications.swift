import Foundation
import Synchronization

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
