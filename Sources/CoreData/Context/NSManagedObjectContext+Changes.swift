import Foundation

// Inserting, changing and deleting objects.
extension NSManagedObjectContext {
    // MARK: Inserting

    func insertObject(_ object: NSManagedObject) {
        noteUse()
        checkQueue()
        if let former = object.managedObjectContext {
            if former === self { return insertAgain(object) }
            programmerError("cannot insert an object of entity “\(object.layout.name)” that another context has")
        }
        rememberForUndo(object, existed: false)
        enlist(object)
        insertionsUnderWay += 1
        defer { insertionsUnderWay -= 1 }
        object.awakeFromInsert()
    }

    /// Takes back a deletion that was not saved yet. Otherwise, counts a new object as inserted in this event again, so
    /// that the event's notification includes it.
    private func insertAgain(_ object: NSManagedObject) {
        if object.isDeleted { return takeBackDeletion(of: object) }
        guard object.isUnsavedInsertion, object.state.isDisjoint(with: .anyEvent) else { return }
        object.state.insert(.insertedInEvent)
        event.add(object)
        scheduleProcessing()
    }

    private func takeBackDeletion(of object: NSManagedObject) {
        guard !object.isGone else { return }
        let isPropagated = object.state.contains(.deletePropagated)
        if object.isFault { object.fireFault() }
        revive(object)
        // Its delete rules have taken it out of the relationships of others.
        if isPropagated { object.connectInverses() }
    }

    /// Makes an object a new object of the context.
    func enlist(_ object: NSManagedObject) {
        if object.state.contains(.fault) { object.showNoValues() }
        object.setContext(self)
        object.state.remove([.fault, .hollow, .updated, .deleted, .deletePropagated])
        changed.list(object)
        object.state.insert([.inserted, .insertedInEvent])
        if checksQueues { object.state.insert(.checked) }
        noteClass(of: object)
        event.add(object)
        table.insert(object)
        retained.insert(object)
        scheduleProcessing()
    }

    func assignObject(_ object: Any, to store: NSPersistentStore) {
        guard let object = object as? NSManagedObject else {
            programmerError("cannot assign a \(type(of: object)) to a store; only managed objects can be assigned")
        }
        assignedStores[object] = store
    }

    func assignedStore(of object: NSManagedObject) -> NSPersistentStore? {
        assignedStores[object]
    }

    // MARK: Changing

    /// Handles the first change of an object since changes were last processed.
    func objectWillChange(_ object: NSManagedObject) {
        if isAwakening { return }
        if object.state.isDisjoint(with: .anyEvent) {
            if undoManager != nil || workRecord != nil { rememberForUndo(object) }
            event.keepFormerValues(of: object)
            event.add(object)
            scheduleProcessing()
        }
        object.state.insert(.updatedInEvent)
        if object.state.isDisjoint(with: [.inserted, .deleted]) { object.state.insert(.updated) }
        changed.list(object)
    }

    // MARK: Deleting

    func deleteObject(_ object: NSManagedObject) {
        checkQueue()
        // An object that was never saved loses its context when it is deleted.
        guard let context = object.managedObjectContext else { return }
        guard context === self else {
            programmerError(
                "cannot delete an object of entity “\(object.layout.name)” that the context does not have")
        }
        // Deleted once more, an object is prepared once more, unless it is its own preparation that deletes it.
        let isPrepared = object.state.contains(.deleted) && !object.state.contains(.deletedInEvent)
        guard !isPrepared, deletions.beginPreparing(object) else { return }
        object.prepareForDeletion()
        deletions.endPreparing(object)
        guard !object.state.contains(.deleted) else { return }
        deletions.unpropagated.append(object)
        noteDeletion(of: object)
    }

    func noteDeletion(of object: NSManagedObject) {
        // Once its deletion is saved, only the undo manager has its values.
        if undoManager != nil, object.state.contains(.fault) { object.fireFault() }
        if object.state.isDisjoint(with: .anyEvent) {
            rememberForUndo(object)
            event.add(object)
        }
        changed.list(object)
        object.state.insert([.deleted, .deletedInEvent])
        scheduleProcessing()
    }

    // MARK: Withdrawing changes

    /// Withdraws an object's changes. It stays in the lists, which are cleared of such objects the next time they are
    /// processed.
    func withdraw(_ object: NSManagedObject) {
        changed.willWithdraw(object)
        event.forgetFormerValues(of: object)
        object.state.remove([.inserted, .updated, .deleted, .deletePropagated])
        object.state.remove(.anyEvent)
    }

    /// Removes an object from the context.
    func forget(_ object: NSManagedObject) {
        table.remove(object)
        retained.remove(object)
        if !assignedStores.isEmpty { assignedStores[object] = nil }
        object.relations = []
        object.state.remove([.inserted, .updated, .deleted, .deletePropagated])
        object.state.remove(.anyEvent)
        object.setContext(nil)
    }
}
