import Foundation
import Synchronization

extension NSManagedObjectContext {
    func refreshObject(_ object: NSManagedObject, mergeChanges flag: Bool) {
        checkQueue()
        guard object.managedObjectContext === self, !object.hasTemporaryID || parent != nil else { return }
        guard !object.state.contains(.inserted) else { return }
        if flag {
            guard !object.state.contains(.fault) else { return }
            registerBeforeTaking()
            do {
                try pinIfNeeded()
                if let row = try source?.row(for: object.identifier) {
                    announceNewValues(of: object)
                    if keeps(object) { refresh([(object, row)]) }
                }
            } catch { report("\(object.identifier.description) cannot be refreshed", error) }
        } else {
            withdraw(object)
            object.becomeFault()
        }
        guard keeps(object) else { return }
        event.refreshed.append(object)
        scheduleProcessing()
    }

    /// Calls the methods by which an object lets go of what it made of its values: one without changes becomes a fault
    /// before it has the new ones.
    private func announceNewValues(of object: NSManagedObject) {
        guard !object.hasChanges else { return }
        object.willTurnIntoFault()
        object.didTurnIntoFault()
    }

    func refreshObjects() {
        checkQueue()
        registerBeforeTaking()
        // Those that somebody holds are refreshed again below. Who refreshes all again and again within an event, to
        // read portion after portion, is not to keep each portion until the event ends.
        withExtendedLifetime(event.refreshed) { event.refreshed = [] }
        let changed = table.all.filter {
            $0.hasChanges && $0.state.isDisjoint(with: [.inserted, .fault]) && (!$0.hasTemporaryID || parent != nil)
        }
        for object in table.all where !object.state.contains(.inserted) && !object.hasChanges {
            refresh(object, mergeChanges: false)
        }
        do {
            try pinIfNeeded()
            let rows = try source?.rows(for: changed.map(\.identifier)) ?? []
            refresh(rows.compactMap { row in table.object(for: row.objectID).map { ($0, row) } })
        } catch { report("changed objects cannot be refreshed", error) }
        let kept = changed.filter(keeps)
        event.refreshed += kept
        if !kept.isEmpty { scheduleProcessing() }
    }

    /// Gives objects their rows' values, and keeps their changes.
    private func refresh(_ found: [(object: NSManagedObject, row: Row)]) {
        let takers = found.map { RowTaker($0.object) }
        for (object, row) in found where keeps(object) { object.adopt(row, keepingChanges: true) }
        renewRelationships(of: found.map(\.object).filter(keeps))
        settleKeptDestinations(of: takers, rereadsEnds: true)
        for (object, _) in found where keeps(object) {
            object.forgetFetchedValues()
            readFailures[object.identifier] = nil
            awake(object, from: .refresh)
        }
    }

    /// Whether an object is still one of this context: code of the program's that runs meanwhile, such as an observer
    /// or an awakening object, may reset the context, and an object that it forgot must not come back.
    func keeps(_ object: NSManagedObject) -> Bool { object.managedObjectContext === self }

    // MARK: Merging saves of other contexts

    /// Merges changes on the context's queue, soon. Saves that precede the merge are merged together, so that frequent
    /// saves do not wake the queue each time. `mergeIncomingIfCurrent()` may merge them earlier.
    func mergeSoon(_ changes: SavedChanges) {
        let isFirst = incoming.withLock { incoming in
            incoming.append(changes)
            return incoming.count == 1
        }
        guard isFirst else { return }
        perform { [self] in mergeIncoming() }
    }

    /// Merges waiting changes now, if the caller is on the context's queue and the context is idle.
    ///
    /// Code on a context's queue that waits for another context's save finds the saved changes in its next line, as
    /// with Core Data. This matters most for a program on the main thread.
    func mergeIncomingIfCurrent() {
        guard queue.isCurrent, !saving.isActive, !isProcessing, !isAwakening else { return }
        mergeIncoming()
    }

    private func mergeIncoming() {
        let changes = incoming.withLock { incoming in
            defer { incoming = [] }
            return incoming
        }
        for changes in changes { merge(changes) }
    }

    /// The registered objects that the changes of another context concern.
    private struct MergedObjects {
        /// Objects that are new here.
        var inserted: [NSManagedObject] = []
        /// Faults, which show the current values when they fire, so that nothing changes for observers.
        var faults: [NSManagedObject] = []
        /// Objects whose values may be outdated.
        var stale: [NSManagedObject] = []
        /// Objects that were deleted before, and exist again.
        var gone: [NSManagedObject] = []
        /// Objects that were deleted.
        var removed: [NSManagedObject] = []
        /// The IDs of updated objects that are not registered.
        var unregistered: [NSManagedObjectID] = []

        var needReading: Bool { !stale.isEmpty || !gone.isEmpty || !removed.isEmpty }
    }

    /// Merges the changes that another context saved. Objects take the stored values, and keep their own changes.
    func merge(_ changes: SavedChanges) {
        // Pending changes are processed first, so that observers get them before the merged ones, and undo covers only
        // them.
        if canProcess { processPendingChanges() }
        advancePin()
        guard var source else { return }
        let wasProcessing = isProcessing
        isProcessing = true
        defer { isProcessing = wasProcessing }
        takePromotions()
        // Objects refreshed before the merge are announced here; those of the merge are also announced with their IDs.
        let former = event.refreshed
        event.refreshed = []
        let objects = objects(concernedBy: changes)
        for fault in objects.faults { fault.dropPendingValues() }
        merging.faults += objects.faults
        // Reads below must see the merged state.
        if objects.needReading, (try? pinIfNeeded()) != nil, let pinned = self.source { source = pinned }
        take(objects.stale, from: source)
        let back = bringBack(objects.gone, from: source)
        let deleted = mergeDeletions(of: objects.removed, changes, from: source)
        let inserted = (objects.inserted + back).filter(keeps)
        let lost = prepareFollowers(for: inserted, unregistered: objects.unregistered, from: source)
        announceMerge(
            changes, inserted: inserted.filter { keeps($0) && !lost.contains($0) }, deleted: deleted.filter(keeps),
            before: former.filter(keeps))
        for child in announceToChildren({ changes }) { child.mergeIncomingIfCurrent() }
    }

    private func objects(concernedBy changes: SavedChanges) -> MergedObjects {
        var objects = MergedObjects()
        // Temporary IDs are only meaningful in contexts with the same parent.
        for identifier in changes.inserted where !identifier.isTemporaryID || parent != nil {
            let object = objectOrFault(localIdentifier(identifier))
            if object.isGone {
                objects.gone.append(object)
            } else if object.state.contains(.fault) {
                objects.inserted.append(object)
            } else if !object.state.contains(.inserted) {
                // It was fetched and read after the save, and before this merge, so no observer got it. Or this child
                // saved it to its parent, which may have changed it before its own save.
                objects.stale.append(object)
            }
        }
        for identifier in changes.updated {
            guard let object = registeredObject(for: identifier) else {
                objects.unregistered.append(localIdentifier(identifier))
                continue
            }
            if object.isGone {
                objects.gone.append(object)
            } else if object.state.contains(.fault) {
                objects.faults.append(object)
            } else {
                objects.stale.append(object)
            }
        }
        objects.removed = changes.deleted.compactMap { registeredObject(for: $0) }
        return objects
    }

    /// Marks objects as deleted, and removes them from the relationships of others.
    ///
    /// - Returns: those that were not deleted here, too.
    private func mergeDeletions(
        of objects: [NSManagedObject], _ changes: SavedChanges, from source: any RowSource
    ) -> [NSManagedObject] {
        var removed = objects
        excludeRestored(among: &removed, from: source)
        removed.removeAll { !keeps($0) }
        var deleted: [NSManagedObject] = []
        for object in removed {
            if !object.isDeleted { deleted.append(object) }
            noteDeletionElsewhere(of: object)
        }
        let lost = IdentitySet(removed)
        if !lost.isEmpty {
            // If the saving context followed the delete rules, only relationships changed here may still contain
            // deleted objects.
            removeDeleted(
                lost, fromRelationshipsOf: changes.followsDeleteRules ? Array(changed.objects) : table.all,
                source: source)
        }
        return deleted
    }

    /// Updates objects to the source's values.
    func take(_ stale: [NSManagedObject], from source: any RowSource) {
        let rows: ContiguousArray<Row>
        do { rows = try source.rows(for: stale.map(\.identifier)) } catch {
            // Unchanged objects read their rows again when they are next used, and report errors.
            report("saved changes cannot be merged", error)
            for object in stale where !object.hasChanges { refreshObject(object, mergeChanges: false) }
            return
        }
        take(rows)
    }

    func take(_ rows: ContiguousArray<Row>) {
        var takers: [RowTaker] = []
        var ends: IdentitySet = []
        for row in rows {
            guard let object = table.object(for: row.objectID), !object.isFault else { continue }
            // A parent's objects change without new versions.
            if object.version != row.version || parent != nil {
                let taker = RowTaker(object)
                let taken = object.isDeleted ? object.destinationsToTake(from: row) : []
                object.adopt(row, keepingChanges: object.hasChanges)
                guard keeps(object) else { continue }
                for relationship in taken { object.takeDestination(of: relationship, from: row) }
                takers.append(taker)
                for end in object.collectionsConcerned(byChangeFrom: taker.former) { ends.insert(end) }
            }
            // An object that was saved without a changed value is reported too: programs set a value to itself to make
            // others look again.
            event.refreshed.append(object)
        }
        // Who saved the rows may have changed one end only: a merge policy did, or a batch request.
        let renewed = takers.map(\.object)
        if !ends.isEmpty {
            ends.subtract(IdentitySet(renewed))
            for end in ends { end.refreshToManys() }
            event.refreshed += ends
        }
        renewRelationships(of: renewed)
        settleKeptDestinations(of: takers)
        for object in renewed where keeps(object) { awake(object, from: .refresh) }
    }

    private func announceMerge(
        _ changes: SavedChanges, inserted: [NSManagedObject], deleted: [NSManagedObject], before: [NSManagedObject]
    ) {
        var info: [AnyHashable: Any] = [:]
        if !inserted.isEmpty { info[NSInsertedObjectsKey] = Set(inserted) }
        if !deleted.isEmpty { info[NSDeletedObjectsKey] = Set(deleted) }
        let refreshedHere = event.refreshed
        event.refreshed = []
        if !refreshedHere.isEmpty || !before.isEmpty { info[NSRefreshedObjectsKey] = Set(before + refreshedHere) }
        if !info.isEmpty {
            // Programs distinguish merges from changes of their own by this key of Core Data's.
            info["NSObjectsChangedByMergeChangesKey"] = Set<NSManagedObject>()
            NotificationCenter.default.post(
                name: SaveNotifications.didChange, object: self, userInfo: info)
        } else if !merging.faults.isEmpty {
            NotificationCenter.default.post(name: .faultsDidChange, object: self)
        }
        merging.faults = []
        NotificationCenter.default.post(
            name: SaveNotifications.didMerge, object: self,
            userInfo: [
                NSInsertedObjectIDsKey: Set(changes.inserted), NSUpdatedObjectIDsKey: Set(changes.updated),
                NSDeletedObjectIDsKey: Set(changes.deleted),
                NSRefreshedObjectIDsKey: Set(refreshedHere.map(\.identifier)),
            ])
    }
}

extension NSManagedObject {
    /// Forgets the stored members of to-many relationships, so that they are read again; members added and removed here
    /// are kept.
    final func refreshToManys() {
        if state.contains(.observed) { notifyingObserversOfMembers(forgetToManys) } else { forgetToManys() }
    }

    /// Makes a fault read its row when it fires, in place of values that were fetched before. Saves of other processes
    /// do not show in this coordinator's counts.
    final func dropPendingValues() {
        guard state.contains(.valuesPending) else { return }
        values = []
        snapshot = []
        state.remove(.valuesPending)
    }

    private func forgetToManys() {
        for relationship in layout.toManys {
            guard let members = toManyMembersIfAny(relationship) else { continue }
            relations[relationship.index] = members.hasChanges ? .toMany(members.rereading) : .unresolved
            guard members.hasChanges, members.isReordered else { continue }
            // An order is of members that are known. If they cannot be read, it stays with the former ones.
            if !loadedToManyMembers(relationship).isLoaded { relations[relationship.index] = .toMany(members) }
        }
    }
}
