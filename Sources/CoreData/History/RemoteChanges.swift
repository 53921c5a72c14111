import Dispatch
import Foundation
import Synchronization

extension NSNotification.Name {
    /// Posted by a coordinator after this or another process has changed a store that was opened with
    /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`: on a queue of its own, some time after the change, once for several.
    ///
    /// The user info has `NSStoreUUIDKey`, `NSPersistentStoreURLKey`, and for a store with a history `NSPersistentHistoryTokenKey`.
    public static let NSPersistentStoreRemoteChange = NSNotification.Name("NSPersistentStoreRemoteChangeNotification")
}

extension NSPersistentStoreCoordinator {
    /// One queue, so that the notifications come in the order of the changes.
    private static let remoteChangeQueue = DispatchQueue(label: "NSPersistentStoreRemoteChange")

    /// In the user info of a change that a context's save has posted already, so that an observer of both can skip one.
    package static let followsSaveKey = "Pippin.followsSave"

    /// Posts the news that a store was changed, later: a save must not wait for its observers.
    ///
    /// - Parameters:
    ///   - store: the store that was changed.
    ///   - followsSave: whether a context posts `NSManagedObjectContextDidSave` for the same change.
    func announceChange(of store: NSPersistentStore, followsSave: Bool = false) {
        guard store.engine.news != nil, let delay = store.announcements.begin(followsSave: followsSave) else { return }
        Self.remoteChangeQueue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay))) { [self] in
            store.announcements.end(followsSave: followsSave)
            guard persistentStores.contains(store) else { return }
            var info: [AnyHashable: Any] = [NSStoreUUIDKey: store.identity.uuid]
            info[NSPersistentStoreURLKey] = store.url
            if followsSave { info[Self.followsSaveKey] = true }
            info[NSPersistentHistoryTokenKey] = currentPersistentHistoryToken(fromStores: [store])
            NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
        }
    }
}

/// When changes of a store are announced: one announcement tells of all changes before it. Those of saves that come one after the other are
/// collected, so that not each save wakes a thread for those who may want to know.
final class ChangeAnnouncements: Sendable {
    /// For how long a program's own saves are collected, in nanoseconds.
    private static let pause: UInt64 = 10_000_000

    private struct State {
        var isOwnUnderWay = false
        var isOthersUnderWay = false
        /// When own saves were announced at last, in nanoseconds of the machine's clock.
        var latest: UInt64 = 0
    }
    private let state = Mutex(State())

    /// Notes that there is something to announce.
    ///
    /// - Parameter followsSave: whether it is a save of this program's.
    /// - Returns: after how many nanoseconds to announce it; nil where an announcement is under way already.
    func begin(followsSave: Bool) -> UInt64? {
        state.withLock { state in
            guard followsSave else {
                defer { state.isOthersUnderWay = true }
                return state.isOthersUnderWay ? nil : 0
            }
            guard !state.isOwnUnderWay else { return nil }
            state.isOwnUnderWay = true
            let since = DispatchTime.now().uptimeNanoseconds &- state.latest
            return since < Self.pause ? Self.pause - since : 0
        }
    }

    /// Notes that it is announced now: what changes from here on is yet to be.
    func end(followsSave: Bool) {
        state.withLock { state in
            guard followsSave else { return state.isOthersUnderWay = false }
            state.isOwnUnderWay = false
            state.latest = DispatchTime.now().uptimeNanoseconds
        }
    }
}
