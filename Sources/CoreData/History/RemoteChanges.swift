import Foundation
import StoreSession

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
    /// Posts the notifications of a store's changes: one for each, as Core Data does, since programs count them.
    func post(_ changes: StoreChanges) {
        guard let store = withLock({ shown(changes.store) }) else { return }
        var info: [AnyHashable: Any] = [NSStoreUUIDKey: store.identity.uuid]
        info[NSPersistentStoreURLKey] = store.url
        info[NSPersistentHistoryTokenKey] = currentPersistentHistoryToken(fromStores: [store])
        for _ in changes.followSaves {
            NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
        }
    }
}
