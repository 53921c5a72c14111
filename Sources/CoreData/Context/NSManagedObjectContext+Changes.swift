import Foundation

extension NSManagedObjectContext {
    func insertObject(_ object: NSManagedObject) {
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

    func deleteObject(_ object: NSManagedObject) {
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
        doomed.append(object)
        if object.state.isDisjoint(with: .anyEvent) { event.append(object) }
        object.state.insert(.deletedInEvent)
        scheduleProcessing()
    }

    func assignObject(_ object: Any, to store: NSPersistentStore) {
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

    func processChanges() {
        if propagatesDeletesAtEndOfEvent || isSaving { propagateDeletes() }
        dropIdle()
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
        while position < doomed.count {
            let object = doomed[position]
            position += 1
            guard object.state.contains(.deleted), !object.state.contains(.deletePropagated) else { continue }
            object.state.insert(.deletePropagated)
            for doomed in object.followDeleteRules() { delete(doomed) }
        }
        doomed = []
    }

    func rollBackChanges() {
        processPendingChanges()
        let objects = changed
        changed = []
        idleCount = 0
        doomed = []
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

    func forgetEverything() {
        let objects = table.all
        changed = []
        idleCount = 0
        doomed = []
        event = []
        refreshed = []
        batches = [:]
        readErrors = [:]
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

    /// Takes an object's changes back: it stays in the lists, which are cleared of such objects when next processed.
    func withdraw(_ object: NSManagedObject) {
        if object.state.contains(.listed), !object.state.isDisjoint(with: .anyChange) { idleCount += 1 }
        object.state.remove([.inserted, .updated, .deleted, .deletePropagated])
        object.state.remove(.anyEvent)
    }

    private func dropIdle() {
        guard idleCount > 0 else { return }
        idleCount = 0
        changed.removeAll { object in
            if object.hasChanges { return false }
            object.state.remove(.listed)
            return true
        }
    }

    /// Makes an object one that no context has.
    func forget(_ object: NSManagedObject) {
        table.remove(object, registeredAs: object.identifier)
        object.relations = []
        object.state.remove([.inserted, .updated, .deleted, .deletePropagated])
        object.state.remove(.anyEvent)
        object.setContext(nil)
    }
}
