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

    /// Posts the news that a store was changed, later: a save must not wait for its observers. The notifications of changes that follow
    /// within 20 ms of others are posted together, one after the other: who saves often would wake this queue for each save.
    ///
    /// - Parameters:
    ///   - store: the store that was changed.
    ///   - followsSave: whether a context posts `NSManagedObjectContextDidSave` for the same change.
    func announceChange(of store: NSPersistentStore, followsSave: Bool = false) {
        guard store.engine.news != nil, let turn = store.announcements.add(followsSave: followsSave) else { return }
        switch turn {
        case .now: Self.remoteChangeQueue.async { [self] in postChanges(of: store) }
        case .at(let moment):
            // Nobody observes a coordinator that is gone.
            Self.remoteChangeQueue.asyncAfter(deadline: moment) { [weak self] in self?.postChanges(of: store) }
        }
    }

    private func postChanges(of store: NSPersistentStore) {
        let changes = store.announcements.take()
        guard persistentStores.contains(store) else { return }
        var info: [AnyHashable: Any] = [NSStoreUUIDKey: store.identity.uuid]
        info[NSPersistentStoreURLKey] = store.url
        info[NSPersistentHistoryTokenKey] = currentPersistentHistoryToken(fromStores: [store])
        // One for each change, as Core Data posts them: programs count them.
        for followsSave in changes {
            info[Self.followsSaveKey] = followsSave ? true : nil
            NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
        }
    }
}
