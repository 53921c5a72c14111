import Foundation

// Saves rows that have no objects in the context.
extension NSManagedObjectContext {
    /// Whether the context has no objects and no changes.
    package var isUntouched: Bool { changed.isEmpty && event.objects.isEmpty && table.isEmpty && parent == nil }

    /// IDs for new rows of a store, in the context's transaction.
    ///
    /// - Parameters:
    ///   - entities: one entity for each row.
    ///   - store: the store of the rows.
    ///   - countsKeys: whether the store reserves the keys now, rather than in the transaction that saves the rows.
    /// - Returns: an ID for each of the entities, in order, and the promised keys, which belong in the change set.
    /// - Throws: an `NSError` for a store that cannot be written.
    package func makeIdentifiers(
        for entities: [EntityLayout], in store: NSPersistentStore, countsKeys: Bool
    ) throws -> PromisedIdentifiers {
        guard !entities.isEmpty, let coordinator else { return PromisedIdentifiers([]) }
        func make() throws -> PromisedIdentifiers {
            try coordinator.withLock {
                guard countsKeys else { return try store.engine.promiseIdentifiers(for: entities) }
                return PromisedIdentifiers(
                    try store.engine.makePermanentIdentifiers(for: entities, isSavedLater: transaction != nil))
            }
        }
        return try transaction.map { try $0.handingOut(make) } ?? make()
    }

    /// Saves a change set as if objects of the context had these changes. Observers are notified as for any other save;
    /// the objects in its notifications are faults.
    ///
    /// - Parameters:
    ///   - changes: the changes to write.
    ///   - store: the store to write to.
    ///   - isRepeated: whether the save is repeated with new keys because its promised keys were taken, and its
    ///     beginning was already announced.
    /// - Throws: `SaveRefusal` for conflicts, `KeysTaken` if others took promised keys, and the errors of the store;
    ///   everything is then as before.
    package func saveRows(_ changes: ChangeSet, to store: NSPersistentStore, isRepeated: Bool = false) throws {
        checkQueue()
        guard let coordinator else { throw Self.noSource("save") }
        if !isRepeated { SaveNotifications.post(SaveNotifications.willSave, of: self) }
        var changes = changes
        (changes.contextName, changes.author) = (name, transactionAuthor)
        _ = try coordinator.save([(store, changes)], in: transaction)
        // Computed only if it is needed.
        lazy var saved = SavedChanges(
            inserted: changes.inserted.map(\.objectID), updated: changes.updated.map(\.objectID),
            deleted: changes.deleted.map(\.objectID))
        saving.waitingMergers += coordinator.announce(from: self) { saved }
        defer { wakeMergers() }
        coordinator.saveListeners.notify(changes.entityNames, changes)
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
}

extension NSPersistentStore {
    /// Whether the store takes rows and is writable.
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
