import Dispatch
import Foundation

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
        guard store.engine.news != nil else { return }
        Self.remoteChangeQueue.async { [self] in
            guard persistentStores.contains(store) else { return }
            var info: [AnyHashable: Any] = [NSStoreUUIDKey: store.identity.uuid]
            info[NSPersistentStoreURLKey] = store.url
            if followsSave { info[Self.followsSaveKey] = true }
            info[NSPersistentHistoryTokenKey] = currentPersistentHistoryToken(fromStores: [store])
            NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
        }
    }
}
