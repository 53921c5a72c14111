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
                if let row = try source?.row(for: object.identifier) { refreshObject(object, by: row) }
            } catch { report("\(object.identifier.description) cannot be refreshed", error) }
        } else {
            withdraw(object)
            object.becomeFault()
        }
        refreshed.append(object)
        scheduleProcessing()
    }

    func refreshObjects() {
        checkQueue()
        registerBeforeTaking()
        let changed = table.all.filter {
            $0.hasChanges && $0.state.isDisjoint(with: [.inserted, .fault]) && (!$0.hasTemporaryID || parent != nil)
        }
        for object in table.all where !object.state.contains(.inserted) && !object.hasChanges {
            refresh(object, mergeChanges: false)
        }
        do {
            try pinIfNeeded()
            for row in try source?.rows(for: changed.map(\.identifier)) ?? [] {
                if let object = table.object(for: row.objectID) { refreshObject(object, by: row) }
            }
        } catch { report("changed objects cannot be refreshed", error) }
        refreshed += changed
        if !changed.isEmpty { scheduleProcessing() }
    }

    /// Gives an object its row's values, and keeps its changes.
    private func refreshObject(_ object: NSManagedObject, by row: Row) {
        object.adopt(row, keepingChanges: true)
        renewRelationships(of: [object])
        object.forgetFetchedValues()
        readErrors[object.identifier] = nil
        awake(object, from: .refresh)
    }

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
        guard queue.isCurrent, !isSaving, !isProcessing, !isAwakening else { return }
        mergeIncoming()
    }

    private func mergeIncoming() {
        let changes = incoming.withLock { incoming in
            defer { incoming = [] }
            return incoming
        }
        for changes in changes { merge(changes) }
    }

    func merge(_ changes: SavedChanges) {
        // Lists are told of the event's changes before they are told of the merge's, and undo takes back the event's only.
        if canProcess { processPendingChanges() }
        advancePin()
        guard var source else { return }
        let wasProcessing = isProcessing
        isProcessing = true
        defer { isProcessing = wasProcessing }
        takePromotions()
        // Objects refreshed before the merge are announced here; those of the merge are also announced with their IDs.
        let former = refreshed
        refreshed = []
        var inserted: [NSManagedObject] = []
        var deleted: [NSManagedObject] = []
        var stale: [NSManagedObject] = []
        var gone: [NSManagedObject] = []
        var unheld: [NSManagedObjectID] = []
        // Temporary IDs are only meaningful in contexts with the same parent.
        for identifier in changes.inserted where !identifier.isTemporaryID || parent != nil {
            let object = objectOrFault(localIdentifier(identifier))
            if object.isGone {
                gone.append(object)
            } else if object.state.contains(.fault) {
                inserted.append(object)
            } else if parent == nil, !object.state.contains(.inserted) {
                // It was fetched and read after the save, and before this merge: nobody was told of it.
                stale.append(object)
            }
        }
        for identifier in changes.updated {
            guard let object = registeredObject(for: identifier) else {
                unheld.append(localIdentifier(identifier))
                continue
            }
            if object.isGone {
                gone.append(object)
            } else if object.state.contains(.fault) {
                // A fault shows the current values when it fires, so nothing changed for observers.
                object.dropPendingValues()
                mergedFaults.append(object)
            } else {
                stale.append(object)
            }
        }
        var removed = changes.deleted.compactMap { registeredObject(for: $0) }
        // What is read next is of the state that was merged.
        if !stale.isEmpty || !gone.isEmpty || !removed.isEmpty, (try? pinIfNeeded()) != nil, let pinned = self.source {
            source = pinned
        }
        take(stale, from: source)
        inserted += bringBack(gone, from: source)
        excludeRestored(among: &removed, from: source)
        for object in removed {
            if !object.isDeleted { deleted.append(object) }
            noteDeletionElsewhere(of: object)
        }
        let lost = IdentitySet(removed)
        if !lost.isEmpty {
            // If the saving context followed the delete rules, only relationships changed here may still lead to
            // deleted objects.
            removeDeleted(
                lost, fromRelationshipsOf: changes.followsDeleteRules ? Array(changed) : table.all, source: source)
        }
        prepareFollowers(for: inserted, unheld: unheld, from: source)
        announceMerge(changes, inserted: inserted, deleted: deleted, before: former)
        for child in announceToChildren({ changes }) { child.mergeIncomingIfCurrent() }
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
        var renewed: [NSManagedObject] = []
        for row in rows {
            guard let object = table.object(for: row.objectID), !object.isFault else { continue }
            // A parent's objects change without new versions.
            if object.version != row.version || parent != nil {
                object.adopt(row, keepingChanges: object.hasChanges)
                renewed.append(object)
            }
            // An object that was saved without a changed value is reported too: programs set a value to itself to make
            // others look again.
            refreshed.append(object)
        }
        renewRelationships(of: renewed)
        for object in renewed { awake(object, from: .refresh) }
    }

    private func announceMerge(
        _ changes: SavedChanges, inserted: [NSManagedObject], deleted: [NSManagedObject], before: [NSManagedObject]
    ) {
        var info: [AnyHashable: Any] = [:]
        if !inserted.isEmpty { info[NSInsertedObjectsKey] = Set(inserted) }
        if !deleted.isEmpty { info[NSDeletedObjectsKey] = Set(deleted) }
        let refreshedHere = refreshed
        refreshed = []
        if !refreshedHere.isEmpty || !before.isEmpty { info[NSRefreshedObjectsKey] = Set(before + refreshedHere) }
        if !info.isEmpty {
            // Programs tell merges from changes of their own by this key of Core Data's.
            info["NSObjectsChangedByMergeChangesKey"] = Set<NSManagedObject>()
            NotificationCenter.default.post(
                name: SaveNews.didChange, object: self, userInfo: info)
        } else if !mergedFaults.isEmpty {
            NotificationCenter.default.post(name: .faultsDidChange, object: self)
        }
        mergedFaults = []
        NotificationCenter.default.post(
            name: SaveNews.didMerge, object: self,
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
        if state.contains(.observed) { tellingObserversOfMembers(forgetToManys) } else { forgetToManys() }
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
        }
    }
}

extension SavedChanges {
    /// Reads the sets of a save notification: objects, IDs or URIs.
    init(userInfo: [AnyHashable: Any], coordinator: NSPersistentStoreCoordinator? = nil) {
        func identifiers(_ keys: String...) -> [NSManagedObjectID] {
            for key in keys {
                guard let value = userInfo[key] else { continue }
                return Self.elements(of: value).compactMap { element in
                    switch element {
                    case let identifier as NSManagedObjectID: return identifier
                    case let object as NSManagedObject: return object.identifier
                    case let url as URL: return coordinator?.managedObjectID(forURIRepresentation: url)
                    default: return nil
                    }
                }
            }
            return []
        }
        self.init(
            inserted: identifiers(NSInsertedObjectsKey, NSInsertedObjectIDsKey),
            updated: identifiers(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey),
            deleted: identifiers(NSDeletedObjectsKey, NSDeletedObjectIDsKey))
        // Objects were passed by the context that saved them.
        followsDeleteRules = userInfo[NSDeletedObjectsKey] is Set<NSManagedObject>
    }

    private static func elements(of value: Any) -> [Any] {
        switch value {
        case let set as NSSet: return set.allObjects
        case let array as [Any]: return array
        case let set as Set<AnyHashable>: return set.map(\.base)
        case let set as Set<NSManagedObject>: return Array(set)
        case let set as Set<NSManagedObjectID>: return Array(set)
        default: return []
        }
    }
}
