import Foundation

// Saving rows that no object of the context stands for.
extension NSManagedObjectContext {
    /// Whether the context has no objects and no changes.
    package var isUntouched: Bool { changed.isEmpty && event.isEmpty && table.isEmpty && parent == nil }

    /// IDs for new rows of a store, in the context's transaction.
    package func makePermanentIdentifiers(
        for entities: [EntityLayout], in store: NSPersistentStore
    ) throws -> [NSManagedObjectID] {
        guard !entities.isEmpty, let coordinator else { return [] }
        func make() throws -> [NSManagedObjectID] {
            try coordinator.withLock {
                try store.engine.makePermanentIdentifiers(for: entities, isSavedLater: transaction != nil)
            }
        }
        return try transaction.map { try $0.handingOut(make) } ?? make()
    }

    /// Saves a change set as if objects of the context had these changes. Who hears of saves hears of this one as of any other; the
    /// objects in its notifications are faults.
    ///
    /// - Parameters:
    ///   - changes: what to write.
    ///   - store: where to.
    /// - Throws: `SaveRefusal` for conflicts, and the errors of the store; then all is as it was.
    package func saveRows(_ changes: ChangeSet, to store: NSPersistentStore) throws {
        checkQueue()
        guard let coordinator else { throw Self.noSource("save") }
        NotificationCenter.default.post(name: .NSManagedObjectContextWillSave, object: self)
        var changes = changes
        (changes.contextName, changes.author) = (name, transactionAuthor)
        _ = try coordinator.save([(store, changes)], in: transaction)
        // Nobody may want to know.
        lazy var saved = SavedChanges(
            inserted: changes.inserted.map(\.objectID), updated: changes.updated.map(\.objectID),
            deleted: changes.deleted.map(\.objectID))
        coordinator.announce(from: self) { saved }
        var info: [AnyHashable: Any] = [NSManagedObjectContext.savedEntitiesKey: changes.entityNames]
        var identifiers = info
        let isTold = SaveNews.tells(changes.inserted.count + changes.updated.count + changes.deleted.count)
        if isTold {
            for (key, idKey, list) in [
                (NSInsertedObjectsKey, NSInsertedObjectIDsKey, saved.inserted),
                (NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, saved.updated),
                (NSDeletedObjectsKey, NSDeletedObjectIDsKey, saved.deleted),
            ] where !list.isEmpty {
                info[key] = Set(list.map { object(with: $0) })
                identifiers[idKey] = Set(list)
            }
        }
        if let token = coordinator.currentPersistentHistoryToken(fromStores: nil) {
            for key in [NSPersistentHistoryTokenKey, "newChangeToken"] {
                info[key] = token
                identifiers[key] = token
            }
        }
        NotificationCenter.default.post(name: SaveNews.didSave, object: self, userInfo: info)
        NotificationCenter.default.post(
            name: SaveNews.didSaveObjectIDs, object: self, userInfo: identifiers)
    }

    /// The key under which a save says the names of the entities that it concerns, as a `Set<String>`.
    package static let savedEntitiesKey = "entities"
}

extension NSPersistentStore {
    /// Whether the store is saved to by rows, and may be.
    package var takesRows: Bool { objectStore == nil && !isReadOnly }
}

extension ChangeSet {
    fileprivate var entityNames: Set<String> {
        var names: Set<String> = []
        var last: EntityLayout?
        func add(_ identifier: NSManagedObjectID) {
            guard identifier.layout !== last else { return }
            last = identifier.layout
            names.insert(identifier.layout.name)
        }
        for change in inserted { add(change.objectID) }
        for change in updated { add(change.objectID) }
        for deletion in deleted { add(deletion.objectID) }
        return names
    }
}
