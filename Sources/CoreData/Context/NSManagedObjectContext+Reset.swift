import Foundation

// Discarding changes, and forgetting objects.
extension NSManagedObjectContext {
    /// Discards unsaved changes. The context keeps its objects, what it knows of their rows, and the state of the
    /// stores that it reads.
    func rollBackChanges() {
        checkQueue()
        processPendingChanges()
        undoManager?.removeAllActions()
        restartRecords()
        let objects = changed.takeAll()
        deletions.reset()
        // What observers of the changes have changed since.
        let (lost, refreshed) = event.discard()
        var restored: [NSManagedObject] = []
        for object in objects {
            // One that came before may have reset the context when it was restored.
            guard keeps(object) else { continue }
            object.state.remove(.listed)
            if object.state.contains(.inserted) || object.isGone {
                forget(object)
            } else {
                // An observer of a restored object may have changed one that is restored only now.
                event.discardChanges(of: object)
                object.becomeUnchanged()
                awake(object, from: .rollback)
                restored.append(object)
            }
        }
        assignedStores = AssignedStores()
        let removed = objects.filter { $0.managedObjectContext == nil } + lost
        restored = (restored + refreshed).filter(keeps)
        var info: [AnyHashable: Any] = [:]
        if !removed.isEmpty { info[NSDeletedObjectsKey] = Set(removed) }
        if !restored.isEmpty { info[NSRefreshedObjectsKey] = Set(restored) }
        guard !info.isEmpty else { return }
        NotificationCenter.default.post(
            name: SaveNotifications.didChange, object: self, userInfo: info)
    }

    /// Forgets all objects, and all that is known of them. Only what does not depend on them stays: the missing files
    /// that were reported, the permanent IDs of former objects, and the saves of others that wait to be merged.
    func forgetEverything() {
        checkQueue()
        let objects = table.all
        changed = ChangeList()
        event = ContextEvent()
        deletions.reset()
        merging.reset()
        readFailures.reset()
        batches = FetchBatches()
        advancePin()
        undoManager?.removeAllActions()
        restartRecords()
        assignedStores = AssignedStores()
        table.removeAll()
        retained.reset()
        for object in objects {
            object.becomeFaultForGood()
            object.setContext(nil)
        }
        NotificationCenter.default.post(
            name: SaveNotifications.didChange, object: self,
            userInfo: [NSInvalidatedAllObjectsKey: objects.map(\.identifier)])
    }

    /// Clears the lists of changed objects without posting anything; for a private context whose objects are not saved.
    func unlistChanges() {
        changed.unlistAll()
        event.forgetObjects()
        deletions.reset()
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
