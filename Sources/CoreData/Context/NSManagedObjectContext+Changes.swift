import Foundation

extension NSManagedObjectContext {
    /// Inserts an object that was made without a context.
    public func insert(_ object: NSManagedObject) {
        if let former = object.managedObjectContext {
            if former === self { return }
            programmerError("cannot insert an object of entity “\(object.layout.name)” that another context has")
        }
        object.setContext(self)
        object.state.insert([.inserted, .insertedInEvent, .listed])
        changed.append(object)
        event.append(object)
        table.insert(object)
        keepIfWanted(object)
        scheduleProcessing()
        object.awakeFromInsert()
    }

    /// Marks an object to be deleted by the next save, and others as its delete rules say.
    public func delete(_ object: NSManagedObject) {
        guard object.managedObjectContext === self else {
            programmerError(
                "cannot delete an object of entity “\(object.layout.name)” that the context does not have")
        }
        guard !object.state.contains(.deleted) else { return }
        object.prepareForDeletion()
        if !object.state.contains(.listed) {
            object.state.insert(.listed)
            changed.append(object)
        }
        object.state.insert(.deleted)
        if object.state.isDisjoint(with: .anyEvent) { event.append(object) }
        object.state.insert(.deletedInEvent)
        scheduleProcessing()
    }

    /// Assigns a new object to a store, where several could take it.
    public func assign(_ object: Any, to store: NSPersistentStore) {
        guard let object = object as? NSManagedObject else {
            programmerError("cannot assign a \(type(of: object)) to a store; only managed objects can be assigned")
        }
        assignedStores[ObjectIdentifier(object)] = store
    }

    /// Hears of the first change of an object since changes were last processed.
    func objectWillChange(_ object: NSManagedObject) {
        if object.state.isDisjoint(with: .anyEvent) {
            event.append(object)
            scheduleProcessing()
        }
        object.state.insert(.updatedInEvent)
        if object.state.isDisjoint(with: [.inserted, .deleted]) { object.state.insert(.updated) }
        if !object.state.contains(.listed) {
            object.state.insert(.listed)
            changed.append(object)
        }
    }

    /// Follows the delete rules of deleted objects, and posts what changed since the last time.
    public func processPendingChanges() {
        if propagatesDeletesAtEndOfEvent || isSaving { propagateDeletes() }
        guard !event.isEmpty || !refreshed.isEmpty else { return }
        var inserted: [NSManagedObject] = []
        var updated: [NSManagedObject] = []
        var deleted: [NSManagedObject] = []
        let objects = event
        let refreshedObjects = refreshed
        event = []
        refreshed = []
        for object in objects {
            let state = object.state
            object.state.remove(.anyEvent)
            if state.contains(.deletedInEvent) {
                // An object that came and went within one event was never there for anyone else.
                if !state.contains(.insertedInEvent) { deleted.append(object) }
            } else if state.contains(.insertedInEvent) {
                inserted.append(object)
            } else if state.contains(.updatedInEvent) {
                updated.append(object)
            }
        }
        var info: [AnyHashable: Any] = [:]
        if !inserted.isEmpty { info[NSInsertedObjectsKey] = Set(inserted) }
        if !updated.isEmpty { info[NSUpdatedObjectsKey] = Set(updated) }
        if !deleted.isEmpty { info[NSDeletedObjectsKey] = Set(deleted) }
        if !refreshedObjects.isEmpty { info[NSRefreshedObjectsKey] = Set(refreshedObjects) }
        guard !info.isEmpty else { return }
        NotificationCenter.default.post(
            name: .NSManagedObjectContextObjectsDidChange, object: self, userInfo: info)
    }

    private func propagateDeletes() {
        var position = 0
        // The list grows while cascades add to it.
        while position < changed.count {
            let object = changed[position]
            position += 1
            guard object.state.contains(.deleted), !object.state.contains(.deletePropagated) else { continue }
            object.state.insert(.deletePropagated)
            for doomed in object.followDeleteRules() { delete(doomed) }
        }
    }

    /// Forgets all unsaved changes.
    public func rollback() {
        processPendingChanges()
        let objects = changed
        changed = []
        for object in event { object.state.remove(.anyEvent) }
        event = []
        var restored: [NSManagedObject] = []
        for object in objects {
            object.state.remove(.listed)
            if object.state.contains(.inserted) {
                forget(object)
            } else {
                object.becomeUnchanged()
                object.awake(fromSnapshotEvents: .rollback)
                restored.append(object)
            }
        }
        assignedStores = [:]
        guard !objects.isEmpty else { return }
        var info: [AnyHashable: Any] = [:]
        let removed = objects.filter { $0.managedObjectContext == nil }
        if !removed.isEmpty { info[NSDeletedObjectsKey] = Set(removed) }
        if !restored.isEmpty { info[NSRefreshedObjectsKey] = Set(restored) }
        NotificationCenter.default.post(
            name: .NSManagedObjectContextObjectsDidChange, object: self, userInfo: info)
    }

    /// Forgets all objects and all changes.
    public func reset() {
        let objects = table.all
        changed = []
        event = []
        refreshed = []
        batches = [:]
        assignedStores = [:]
        table.removeAll()
        forgetRetained()
        for object in objects {
            object.relations = []
            object.state = [.fault]
            object.values = []
            object.snapshot = []
            object.setContext(nil)
        }
        NotificationCenter.default.post(
            name: .NSManagedObjectContextObjectsDidChange, object: self,
            userInfo: [NSInvalidatedAllObjectsKey: objects.map(\.identifier)])
    }

    /// Makes an object one that no context has.
    func forget(_ object: NSManagedObject) {
        table.remove(object, registeredAs: object.identifier)
        object.relations = []
        object.state.remove([.inserted, .updated, .deleted, .listed, .deletePropagated])
        object.state.remove(.anyEvent)
        object.setContext(nil)
    }
}
