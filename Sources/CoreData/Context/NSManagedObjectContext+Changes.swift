import Foundation

extension NSManagedObjectContext {
    func insertObject(_ object: NSManagedObject) {
        noteUse()
        checkQueue()
        if let former = object.managedObjectContext {
            if former === self { return insertAgain(object) }
            programmerError("cannot insert an object of entity “\(object.layout.name)” that another context has")
        }
        rememberForUndo(object, existed: false)
        enlist(object)
        awakening += 1
        defer { awakening -= 1 }
        object.awakeFromInsert()
    }

    /// Counts a new object as inserted in this event again, so that the event's notification includes it.
    private func insertAgain(_ object: NSManagedObject) {
        guard object.isInserted, object.state.isDisjoint(with: .anyEvent) else { return }
        object.state.insert(.insertedInEvent)
        event.append(object)
        scheduleProcessing()
    }

    /// Makes an object a new object of the context.
    func enlist(_ object: NSManagedObject) {
        if object.state.contains(.fault) { object.showNoValues() }
        object.setContext(self)
        object.state.remove([.fault, .hollow, .updated, .deleted, .deletePropagated])
        if !object.state.contains(.listed) { changed.append(object) }
        object.state.insert([.inserted, .insertedInEvent, .listed])
        if checksQueues { object.state.insert(.checked) }
        noteClass(of: object)
        event.append(object)
        table.insert(object)
        if isRetaining { retained.insert(object) }
        scheduleProcessing()
    }

    func deleteObject(_ object: NSManagedObject) {
        checkQueue()
        // An object that was never saved loses its context when it is deleted.
        guard let context = object.managedObjectContext else { return }
        guard context === self else {
            programmerError(
                "cannot delete an object of entity “\(object.layout.name)” that the context does not have")
        }
        guard !object.state.contains(.deleted) else { return }
        object.prepareForDeletion()
        doomed.append(object)
        noteDeletion(of: object)
    }

    func noteDeletion(of object: NSManagedObject) {
        // Once its deletion is saved, only the undo manager has its values.
        if undoManager != nil, object.state.contains(.fault) { object.fireFault() }
        if object.state.isDisjoint(with: .anyEvent) {
            rememberForUndo(object)
            event.append(object)
        }
        if !object.state.contains(.listed) {
            object.state.insert(.listed)
            changed.append(object)
        }
        object.state.insert([.deleted, .deletedInEvent])
        scheduleProcessing()
    }

    func assignObject(_ object: Any, to store: NSPersistentStore) {
        guard let object = object as? NSManagedObject else {
            programmerError("cannot assign a \(type(of: object)) to a store; only managed objects can be assigned")
        }
        assignedStores[ObjectIdentifier(object)] = store
    }

    func assignedStore(of object: NSManagedObject) -> NSPersistentStore? {
        assignedStores.isEmpty ? nil : assignedStores[ObjectIdentifier(object)]
    }

    /// Handles the first change of an object since changes were last processed.
    func objectWillChange(_ object: NSManagedObject) {
        if isAwakening { return }
        if object.state.isDisjoint(with: .anyEvent) {
            if undoManager != nil || workRecord != nil { rememberForUndo(object) }
            if !object.state.isDisjoint(with: .anyChange) { eventValues[ObjectIdentifier(object)] = object.values }
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
        checkQueue()
        let wasProcessing = isProcessing
        isProcessing = true
        defer { isProcessing = wasProcessing }
        if propagatesDeletesAtEndOfEvent || isSaving { propagateDeletes() }
        dropIdle()
        if !orderedSets.isEmpty { orderedSets = [] }
        guard !event.isEmpty || !refreshed.isEmpty || !vanished.isEmpty else { return }
        registerUndo()
        var inserted: [NSManagedObject] = []
        var updated: [NSManagedObject] = []
        var deleted = vanished
        vanished = []
        let objects = event
        let refreshedObjects = refreshed
        index(objects)
        index(refreshedObjects)
        event = []
        refreshed = []
        // Without observers, the objects are only counted: an array of many would retain each.
        let includesObjects = SaveNotifications.includesChangedObjects(
            objects.count + deleted.count + refreshedObjects.count)
        var count = deleted.count + refreshedObjects.count
        for object in objects {
            let state = object.state
            object.state.remove(.anyEvent)
            object.state.insert(.posting)
            // An object that was inserted and deleted in one event never existed for others.
            if state.isSuperset(of: [.deletedInEvent, .insertedInEvent]) || state.isDisjoint(with: .anyEvent) {
                continue
            }
            count += 1
            guard includesObjects else { continue }
            if state.contains(.deletedInEvent) {
                deleted.append(object)
            } else if state.contains(.insertedInEvent) {
                inserted.append(object)
            } else {
                updated.append(object)
            }
        }
        var info: [AnyHashable: Any] = [:]
        if includesObjects {
            if !inserted.isEmpty { info[NSInsertedObjectsKey] = posted.set(of: inserted, keeping: isSaving) }
            if !updated.isEmpty { info[NSUpdatedObjectsKey] = posted.set(of: updated, keeping: isSaving) }
            if !deleted.isEmpty { info[NSDeletedObjectsKey] = Set(deleted) }
            if !refreshedObjects.isEmpty { info[NSRefreshedObjectsKey] = Set(refreshedObjects) }
        }
        if count > 0 { SaveNotifications.post(SaveNotifications.didChange, of: self, info) }
        for object in objects { object.state.remove(.posting) }
        if !eventValues.isEmpty { eventValues = [:] }
    }

    private func propagateDeletes() {
        var followed: ContiguousArray<NSManagedObject> = []
        // Deletions cascade, level by level. A program's `prepareForDeletion` may fetch, which processes those that wait.
        while !doomed.isEmpty {
            let level = doomed
            doomed = []
            loadDestinations(ofDeleted: level[...])
            for object in level where object.state.contains(.deleted) && !object.state.contains(.deletePropagated) {
                object.state.insert(.deletePropagated)
                for next in object.followDeleteRules() { delete(next) }
            }
            followed += level
        }
        // After all deletions are marked, since objects that are deleted together do not deny each other's deletion.
        // Deletions that were denied before may now succeed.
        if !event.isEmpty || !followed.isEmpty { discardRemovable(denied + followed) }
    }

    /// Removes objects that were deleted before they were ever saved. If a rule denies a deletion, that object waits.
    private func discardRemovable(_ objects: ContiguousArray<NSManagedObject>) {
        var waiting: ContiguousArray<NSManagedObject> = []
        for object in objects where object.state.isSuperset(of: [.inserted, .deleted]) {
            if object.isAwaitingRemoval { discard(object) } else { waiting.append(object) }
        }
        denied = waiting
    }

    /// Removes a deleted object that was never saved, so that nothing has to be saved for it.
    private func discard(_ object: NSManagedObject) {
        if object.state.isDisjoint(with: .anyEvent) { rememberForUndo(object) }
        if !object.state.contains(.insertedInEvent) { vanished.append(object) }
        withdraw(object)
        forget(object)
    }

    func rollBackChanges() {
        checkQueue()
        processPendingChanges()
        undoManager?.removeAllActions()
        restartRecords()
        let objects = changed
        changed = []
        dropIndex()
        idleCount = 0
        doomed = []
        denied = []
        for object in event { object.state.remove(.anyEvent) }
        event = []
        var restored: [NSManagedObject] = []
        for object in objects {
            object.state.remove(.listed)
            if object.state.contains(.inserted) || object.isGone {
                forget(object)
            } else {
                object.becomeUnchanged()
                awake(object, from: .rollback)
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
            name: SaveNotifications.didChange, object: self, userInfo: info)
    }

    func forgetEverything() {
        checkQueue()
        let objects = table.all
        changed = []
        dropIndex()
        idleCount = 0
        doomed = []
        denied = []
        event = []
        refreshed = []
        eventValues = [:]
        batches = FetchBatches()
        orderedSets = []
        readErrors = [:]
        advancePin()
        mementos = []
        vanished = []
        undoManager?.removeAllActions()
        restartRecords()
        assignedStores = [:]
        table.removeAll()
        retained = []
        for object in objects {
            object.becomeFaultForGood()
            object.setContext(nil)
        }
        NotificationCenter.default.post(
            name: SaveNotifications.didChange, object: self,
            userInfo: [NSInvalidatedAllObjectsKey: objects.map(\.identifier)])
    }

    /// Withdraws an object's changes. It stays in the lists, which are cleared of such objects the next time they are
    /// processed.
    func withdraw(_ object: NSManagedObject) {
        if object.state.contains(.listed), !object.state.isDisjoint(with: .anyChange) { idleCount += 1 }
        object.state.remove([.inserted, .updated, .deleted, .deletePropagated])
        object.state.remove(.anyEvent)
    }

    private func dropIdle() {
        // Done each time, since another context that takes such an object must not find it listed here.
        guard idleCount > 0 else { return }
        // From the end, where recent objects are: a program that alternately inserts and deletes then does not search
        // the whole array.
        var first = changed.count
        while idleCount > 0, first > 0 {
            first -= 1
            if changed[first].state.isDisjoint(with: .anyChange) { idleCount -= 1 }
        }
        idleCount = 0
        var end = first
        for position in first..<changed.count {
            let object = changed[position]
            if object.state.isDisjoint(with: .anyChange) {
                object.state.remove(.listed)
            } else {
                changed[end] = object
                end += 1
            }
        }
        if indexed == changed.count { indexed = end } else { indexed = min(indexed, first) }
        changed.removeLast(changed.count - end)
    }

    /// Clears the lists of changed objects without posting anything; for a private context.
    func unlistChanges() {
        for object in changed { object.state.remove(.listed) }
        changed.removeAll(keepingCapacity: true)
        dropIndex()
        event.removeAll(keepingCapacity: true)
        idleCount = 0
    }

    /// Removes an object from the context.
    func forget(_ object: NSManagedObject) {
        table.remove(object)
        if !retained.isEmpty { retained.remove(object) }
        if !assignedStores.isEmpty { assignedStores[ObjectIdentifier(object)] = nil }
        object.relations = []
        object.state.remove([.inserted, .updated, .deleted, .deletePropagated])
        object.state.remove(.anyEvent)
        object.setContext(nil)
    }
}

extension NSManagedObject {
    /// Releases the values of an object that its context no longer knows.
    final func becomeFaultForGood() {
        relations = []
        state = state.intersection(.observed).union(.fault)
        values = []
        snapshot = []
    }
}
