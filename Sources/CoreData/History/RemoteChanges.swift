import Dispatch
import Foundation

extension NSNotification.Name {
    /// Posted by a coordinator after this or another process has changed a store that was opened with
    /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`: on a queue of its own, some time after the change, and
    /// once for several changes.
    ///
    /// The user info has `NSStoreUUIDKey`, `NSPersistentStoreURLKey`, and for a store with a history
    /// `NSPersistentHistoryTokenKey`.
    public static let NSPersistentStoreRemoteChange = NSNotification.Name("NSPersistentStoreRemoteChangeNotification")
}

extension NSPersistentStoreCoordinator {
    /// One queue, so that the notifications are in the order of the changes.
    private static let remoteChangeQueue = DispatchQueue(label: "NSPersistentStoreRemoteChange")

    /// A key in the user info for a change that was also posted as a context's save, so that an observer of both can
    /// skip one.
    package static let followsSaveKey = "Pippin.followsSave"

    /// Posts the notification of a changed store, later, since a save must not wait for its observers. Notifications of
    /// changes within 20 ms are posted together, one after the other, so that frequent saves do not wake this queue
    /// each time.
    ///
    /// - Parameters:
    ///   - store: the changed store.
    ///   - followsSave: whether a context posts `NSManagedObjectContextDidSave` for the same change.
    func announceChange(of store: NSPersistentStore, followsSave: Bool = false) {
        guard store.engine.changeNotifications != nil, let turn = store.announcements.add(followsSave: followsSave)
        else { return }
        switch turn {
        case .now: Self.remoteChangeQueue.async { [self] in postChanges(of: store) }
        case .at(let moment):
            // If the coordinator has been released, there are no observers.
            Self.remoteChangeQueue.asyncAfter(deadline: moment) { [weak self] in self?.postChanges(of: store) }
        }
    }

    private func postChanges(of store: NSPersistentStore) {
        let changes = store.announcements.take()
        guard persistentStores.contains(store) else { return }
        var info: [AnyHashable: Any] = [NSStoreUUIDKey: store.identity.uuid]
        info[NSPersistentStoreURLKey] = store.url
        info[NSPersistentHistoryTokenKey] = currentPersistentHistoryToken(fromStores: [store])
        // One for each change, as Core Data posts them, since programs count them.
        for followsSave in changes {
            info[Self.followsSaveKey] = followsSave ? true : nil
            NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
        }
    }
}
