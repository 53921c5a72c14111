import Foundation
import StoreSession

extension NSPersistentStoreCoordinator {
    /// Posts the notifications of a context's save around a save of rows, and informs the contexts that merge. The
    /// context is a new one, and the objects in the notifications are faults.
    package func saving(_ save: () throws -> ChangeSet) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = self
        try context.performAndWait {
            SaveNotifications.post(SaveNotifications.willSave, of: context)
            context.report(try save())
        }
    }
}

extension NSManagedObjectContext {
    /// Reports a save of rows as if objects of the context had been saved.
    fileprivate func report(_ changes: ChangeSet) {
        guard let coordinator else { return }
        // Computed only if it is needed.
        lazy var saved = SavedChanges(
            inserted: changes.inserted.map(\.objectID), updated: changes.updated.map(\.objectID),
            deleted: changes.deleted.map(\.objectID))
        _ = coordinator.announce(from: self) { saved }
        var identifiers: [AnyHashable: Any] = [:]
        var info: [AnyHashable: Any] = [:]
        if SaveNotifications.includesObjects(changes.inserted.count + changes.updated.count + changes.deleted.count) {
            func add(_ key: String, _ idKey: String, _ list: [NSManagedObjectID]) {
                guard !list.isEmpty else { return }
                info[key] = Set(list.map { object(with: $0) })
                identifiers[idKey] = Set(list)
            }
            add(NSInsertedObjectsKey, NSInsertedObjectIDsKey, saved.inserted)
            add(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, saved.updated)
            add(NSDeletedObjectsKey, NSDeletedObjectIDsKey, saved.deleted)
        }
        if let token = coordinator.currentPersistentHistoryToken(fromStores: nil) {
            for key in [NSPersistentHistoryTokenKey, "newChangeToken"] {
                info[key] = token
                identifiers[key] = token
            }
        }
        SaveNotifications.post(SaveNotifications.didSave, of: self, info)
        SaveNotifications.post(SaveNotifications.didSaveObjectIDs, of: self, identifiers)
    }

    /// Whether the context has no objects and no changes.
    package var isUntouched: Bool { changed.isEmpty && event.objects.isEmpty && table.isEmpty && parent == nil }
}
