import Foundation

// The end of an event: deletions take effect, undo is registered, and observers are notified.
extension NSManagedObjectContext {
    func processChanges() {
        checkQueue()
        let wasProcessing = isProcessing
        isProcessing = true
        defer { isProcessing = wasProcessing }
        if propagatesDeletesAtEndOfEvent || saving.isActive { propagateDeletes() }
        changed.dropIdle()
        event.forgetOrderedSets()
        guard event.hasNews else { return }
        registerUndo()
        let ended = event.end()
        changed.index(ended.objects)
        changed.index(ended.refreshed)
        post(EventReport(of: ended))
        for object in ended.objects { object.state.remove(.posting) }
        event.didPost(ended)
    }

    private func post(_ report: EventReport) {
        guard report.count > 0 else { return }
        var info: [AnyHashable: Any] = [:]
        if report.includesObjects {
            let (inserted, updated) = (report.inserted, report.updated)
            if !inserted.isEmpty {
                info[NSInsertedObjectsKey] = saving.posted.set(of: inserted, keeping: saving.isActive)
            }
            if !updated.isEmpty {
                info[NSUpdatedObjectsKey] = saving.posted.set(of: updated, keeping: saving.isActive)
            }
            if !report.deleted.isEmpty { info[NSDeletedObjectsKey] = Set(report.deleted) }
            if !report.refreshed.isEmpty { info[NSRefreshedObjectsKey] = Set(report.refreshed) }
        }
        SaveNotifications.post(SaveNotifications.didChange, of: self, info)
    }

    // MARK: Deletions

    private func propagateDeletes() {
        var followed: ContiguousArray<NSManagedObject> = []
        // Deletions cascade, level by level. A program's `prepareForDeletion` may fetch, which processes those that
        // wait.
        while !deletions.unpropagated.isEmpty {
            let level = deletions.takeUnpropagated()
            loadDestinations(ofDeleted: level[...])
            takeOutdatedDestinations(of: level.lazy.filter { !$0.state.contains(.deletePropagated) })
            for object in level where object.state.contains(.deleted) && !object.state.contains(.deletePropagated) {
                object.state.insert(.deletePropagated)
                for next in object.followDeleteRules() { delete(next) }
            }
            followed += level
        }
        // After all deletions are marked, since objects that are deleted together do not deny each other's deletion.
        // Deletions that were denied before may now succeed.
        if !event.objects.isEmpty || !followed.isEmpty { discardRemovable(deletions.denied + followed) }
    }

    /// Removes objects that were deleted before they were ever saved. If a rule denies a deletion, that object waits.
    private func discardRemovable(_ objects: ContiguousArray<NSManagedObject>) {
        var waiting: ContiguousArray<NSManagedObject> = []
        for object in objects where object.state.isSuperset(of: [.inserted, .deleted]) {
            if object.isAwaitingRemoval { discard(object) } else { waiting.append(object) }
        }
        deletions.denied = waiting
    }

    /// Removes a deleted object that was never saved, so that nothing has to be saved for it.
    private func discard(_ object: NSManagedObject) {
        if object.state.isDisjoint(with: .anyEvent) { rememberForUndo(object) }
        event.removed.append(object)
        withdraw(object)
        forget(object)
    }
}
