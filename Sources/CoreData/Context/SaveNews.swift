import Foundation
import Synchronization

/// The names of the notifications of changes and saves, and a record of whether anybody may listen.
///
/// Making sets of objects for notifications takes a fifth of the time of a large save, and `NotificationCenter` does
/// not say whether it has listeners. A listener has to ask for a notification's name first: until somebody does, large
/// changes and saves are posted without their objects.
package enum SaveNews {
    /// For posting, and for listeners that do not need the objects.
    static let willSave = Notification.Name("NSManagingContextWillSaveChangesNotification")
    package static let didSave = Notification.Name("NSManagingContextDidSaveChangesNotification")
    static let didSaveObjectIDs = Notification.Name("_NSManagedObjectContextDidSaveObjectIDsNotification")
    static let didChange = Notification.Name("NSObjectsChangedInManagingContextNotification")

    static let didMerge = Notification.Name("NSManagedObjectContextDidMergeChangesObjectIDsNotification")

    private static let willSaveWasAskedFor = Atomic<Bool>(false)
    private static let savesWereAskedFor = Atomic<Bool>(false)
    private static let changesWereAskedFor = Atomic<Bool>(false)
    private static let mergesWereAskedFor = Atomic<Bool>(false)

    static var willSaveForListeners: Notification.Name {
        willSaveWasAskedFor.store(true, ordering: .releasing)
        return willSave
    }

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

    private static func wasAskedFor(_ name: Notification.Name) -> Bool {
        switch name {
        case willSave: willSaveWasAskedFor.load(ordering: .acquiring)
        case didSave, didSaveObjectIDs: savesWereAskedFor.load(ordering: .acquiring)
        case didChange: changesWereAskedFor.load(ordering: .acquiring)
        default: true
        }
    }

    // MARK: Posting

    /// Held while a notification is posted that nobody is likely to listen to.
    ///
    /// Foundation's center guards its listeners by a lock that is handed over to the thread that waits longest. If several threads post at once,
    /// each of them then has to wait for a switch of threads at every post: saves of eight threads took three times the processor time of two.
    /// This lock goes to whoever comes first, and a thread that has it may post again: a delegate of a results controller may save.
    private static let turn = NSRecursiveLock()
    /// So long a thread waits for its turn. A listener by the name's text, or by none, may do anything in the meantime.
    private static let longestTurn = 0.001

    /// Posts a notification of a context.
    static func post(_ name: Notification.Name, of context: NSManagedObjectContext, _ info: [AnyHashable: Any]? = nil) {
        let takesTurns = !wasAskedFor(name)
        let hasTurn = takesTurns && (turn.try() || turn.lock(before: Date(timeIntervalSinceNow: longestTurn)))
        defer { if hasTurn { turn.unlock() } }
        NotificationCenter.default.post(name: name, object: context, userInfo: info)
    }
}
