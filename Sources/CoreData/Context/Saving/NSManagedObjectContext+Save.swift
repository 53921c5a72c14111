import Foundation
import StoreSession
import Synchronization

extension NSManagedObjectContext {
    func saveChanges() throws {
        checkQueue()
        guard hasChanges || source != nil else { return }
        let former = saving.begin()
        // A save sets values without updating the index, even if it fails.
        changed.dropIndex()
        if hasChanges { advancePin() }
        defer {
            saving.end(former)
            changed.dropIndex()
        }
        processPendingChanges()
        guard hasChanges || source != nil else { return }
        SaveNotifications.post(SaveNotifications.willSave, of: self)
        guard hasChanges else {
            if parent == nil { try coordinator?.saveNoObjects(of: self) }
            return finishSave(ChangedObjects([]))
        }
        expectRows()
        try prepareForSave()
        // A merge policy may change objects, and resolving one conflict may uncover another.
        for _ in 0..<100 {
            do {
                let saved = try parent.map { try pushChanges(to: $0) } ?? writeChanges()
                return finishSave(saved)
            } catch let refusal as SaveRefusal {
                try settle(refusal)
            }
        }
        throw StoreError.make(
            CoreDataErrorCode.managedObjectMerge,
            "The merge policy did not resolve the conflicts in 100 attempts.")
    }

    /// Makes the contexts on this queue merge what was saved; others merge on their own queues. Contexts merge later,
    /// too, if a transaction may still undo the save.
    func wakeMergers() {
        guard !saving.waitingMergers.isEmpty else { return }
        let mergers = saving.takeMergers()
        guard transaction == nil else { return }
        for context in mergers { context.mergeIncomingIfCurrent() }
    }

    /// Announces many new objects of one entity to the store, before they are prepared and validated.
    private func expectRows() {
        guard changed.count >= 200, parent == nil, let coordinator, let layout = changed.objects.first?.layout else {
            return
        }
        coordinator.session.expectRows(changed.objects.count { $0.layout === layout && $0.hasTemporaryID }, of: layout)
    }

    /// Writes the changes to the stores.
    ///
    /// - Throws: `SaveRefusal` for conflicts, and the errors of the stores; everything is then as before.
    private func writeChanges() throws -> ChangedObjects {
        guard let coordinator else { throw Self.noSource("save") }
        let objects = ChangedObjects(changed.objects)
        if !readFailures.isEmpty { try refuseUnreadable(objects) }
        try loadJoinedLists(of: objects.updated)
        do {
            try write(objects, to: coordinator, countsKeys: false)
        } catch is KeysTaken {
            try write(objects, to: coordinator, countsKeys: true)
        }
        saving.waitingMergers += coordinator.announce(from: self) { SavedChanges(objects) }
        return objects
    }

    private func write(
        _ objects: ChangedObjects, to coordinator: NSPersistentStoreCoordinator, countsKeys: Bool
    ) throws {
        let attempt = try SaveAttempt(
            of: objects, in: coordinator, assigned: assignedStores.stores, countsKeys: countsKeys)
        do {
            let results = try coordinator.save(
                attempt.changeSets(contextName: name, author: transactionAuthor), objects: attempt.savedObjects,
                in: transaction)
            attempt.commit(results, in: self)
        } catch {
            attempt.revert()
            throw error
        }
    }

    /// Refuses to overwrite an object whose row could not be read.
    private func refuseUnreadable(_ objects: ChangedObjects) throws {
        for object in objects.updated + objects.deleted {
            if let error = readFailures[object.identifier] { throw error }
        }
    }

    /// Clears the list of changed objects after all of them are saved.
    func forgetChanges() {
        changed.removeSaved()
        assignedStores = AssignedStores()
    }

    /// Calls the objects' `willSave`, and validates them. Changes that they make meanwhile are prepared and saved too.
    private func prepareForSave() throws {
        defer { for object in changed.objects { object.state.remove(.willSaveCalled) } }
        // Limited, as Core Data's loop is: an object whose willSave always changes something would never finish.
        for _ in 0..<1000 {
            callWillSave()
            if event.objects.isEmpty {
                if saving.validates { try validate() }
                if event.objects.isEmpty { return }
            }
            for object in event.objects { object.state.remove(.willSaveCalled) }
            processPendingChanges()
        }
        programmerError(
            "the context “\(name ?? "without a name")” cannot be saved: its objects still change after 1000 attempts to "
                + "prepare them. Let willSave, validations and observers set only what differs, or primitive values.")
    }

    /// Lets the merge policy resolve the conflicts. Objects that this adds to the save, such as one that has a unique
    /// value already, get `willSave`, and all are validated again.
    private func settle(_ refusal: SaveRefusal) throws {
        let prepared = changed.objects
        try resolve(refusal)
        processPendingChanges()
        for object in prepared { object.state.insert(.willSaveCalled) }
        defer { for object in prepared { object.state.remove(.willSaveCalled) } }
        try prepareForSave()
    }

    private func callWillSave() {
        // A copy: objects may change others, which are handled next.
        let objects = changed.objects
        for object in objects where object.hasChanges && !object.state.contains(.willSaveCalled) {
            object.state.insert(.willSaveCalled)
            object.willSave()
        }
    }

    private func validate() throws {
        var errors: [any Error] = []
        // A copy: validations may change other objects.
        let objects = changed.objects
        for object in objects {
            do {
                if object.isDeleted {
                    if !object.state.contains(.inaccessible) { try object.validateForDelete() }
                } else if object.state.contains(.inserted) {
                    try object.validateForInsert()
                } else if object.state.contains(.updated) {
                    try object.validateForUpdate()
                }
            } catch {
                errors += (error as NSError).userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
            }
        }
        // A program's own error is thrown unchanged: as an NSError it would lose its type.
        if errors.count == 1, let only = errors.first { throw only }
        try Self.throwIfAny(errors.map { $0 as NSError })
    }

    /// Throws the only error, or all of them in one.
    static func throwIfAny(_ errors: [NSError]) throws {
        if errors.count == 1, let only = errors.first { throw only }
        guard !errors.isEmpty else { return }
        throw NSError(
            domain: NSCocoaErrorDomain, code: CoreDataErrorCode.validationMultipleErrors,
            userInfo: [
                NSLocalizedDescriptionKey: "\(errors.count) values are not valid: "
                    + errors.prefix(5).map(\.localizedDescription).joined(separator: " ")
                    + (errors.count > 5 ? " …" : ""),
                NSDetailedErrorsKey: errors,
            ])
    }

    /// Notifies observers of the save.
    private func finishSave(_ saved: ChangedObjects) {
        restartRecords()
        // The rows of deleted faults are gone: what was read of them before is all that hooks and observers can see.
        for object in saved.deleted where object.state.isSuperset(of: [.fault, .valuesPending]) {
            object.state.remove([.fault, .valuesPending])
        }
        // Hooks ask what the save did; it has taken the states of changes off already.
        for object in saved.inserted { object.state.insert(.savedAsInserted) }
        for object in saved.updated { object.state.insert(.savedAsUpdated) }
        for object in saved.inserted { object.didSave() }
        for object in saved.updated { object.didSave() }
        for object in saved.deleted { object.didSave() }
        for object in saved.inserted { object.state.remove(.savedAsInserted) }
        for object in saved.updated { object.state.remove(.savedAsUpdated) }
        for object in saved.deleted { forget(object) }
        if parent == nil { persistentStoreCoordinator?.session.saves.notify(SavedEntities(saved.entityNames, nil)) }
        var info: [AnyHashable: Any] = [:]
        var identifiers: [AnyHashable: Any] = [:]
        let includesObjects = SaveNotifications.includesObjects(
            saved.inserted.count + saved.updated.count + saved.deleted.count)
        func add(_ key: String, _ idKey: String, _ objects: [NSManagedObject]) {
            guard !objects.isEmpty, includesObjects else { return }
            info[key] = saving.posted.set(of: objects)
            identifiers[idKey] = Set(objects.map(\.identifier))
        }
        add(NSInsertedObjectsKey, NSInsertedObjectIDsKey, saved.inserted)
        add(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, saved.updated)
        add(NSDeletedObjectsKey, NSDeletedObjectIDsKey, saved.deleted)
        if parent == nil, !saved.isEmpty,
            let token = persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
        {
            info[NSPersistentHistoryTokenKey] = token
            // Core Data uses this key too, without a constant for it.
            info["newChangeToken"] = token
            identifiers["newChangeToken"] = token
            identifiers[NSPersistentHistoryTokenKey] = token
        }
        if let pinnedToken { info[NSManagedObjectContextQueryGenerationKey] = pinnedToken }
        saving.follower?(saved.inserted, saved.updated, saved.deleted)
        SaveNotifications.post(SaveNotifications.didSave, of: self, info)
        SaveNotifications.post(SaveNotifications.didSaveObjectIDs, of: self, identifiers)
        if !saved.isEmpty { saving.waitingMergers += announceToChildren { SavedChanges(saved) } }
        // Observers have seen their last values. From now on they are faults that cannot be fired.
        for object in saved.deleted where object.managedObjectContext == nil { object.becomeFaultForGood() }
        for object in saving.replaced where object.managedObjectContext == nil { object.becomeFaultForGood() }
        if !event.objects.isEmpty { processPendingChanges() }
    }

    func makeIdentifiersPermanent(_ objects: [NSManagedObject]) throws {
        checkQueue()
        guard let source else { throw Self.noSource("give permanent IDs") }
        takePromotions()
        let new = objects.filter(\.hasTemporaryID)
        guard !new.isEmpty else { return }
        if let parent {
            // The parent knows objects saved to it by the same temporary IDs.
            let known = new.filter { !$0.state.contains(.inserted) }.map(\.identifier)
            try parent.onQueue { parent in
                try parent.obtainPermanentIDs(for: known.compactMap { parent.table.object(for: $0) })
            }
            takePromotions()
        }
        let unknown = new.filter { $0.hasTemporaryID && $0.state.contains(.inserted) }
        let identifiers = try source.makePermanentIdentifiers(for: unknown, assigned: assignedStores.stores)
        var promotions: [ChildLink.Promotion] = []
        for (object, identifier) in zip(unknown, identifiers) {
            promotions.append(.init(temporary: object.identifier, permanent: identifier))
            let number = object.key
            object.identifier = identifier
            table.promote(object, from: number)
            formerIdentifiers.withLock { $0.note(object.identity, formerly: number) }
        }
        notifyChildren(promotions)
    }

    func watchForConflicts(_ object: NSManagedObject) {
        checkQueue()
        guard object.managedObjectContext === self, object.state.isDisjoint(with: [.inserted, .deleted]) else { return }
        if object.isFault { fulfill(object) }
        objectWillChange(object)
        object.state.insert(.watched)
    }
}

/// A context's work on a save.
struct SaveState {
    /// Whether a save is under way.
    private(set) var isActive = false
    /// Whether saves validate their changes; see `savePortion()`.
    var validates = true
    /// New objects that were replaced by others with the same unique values, or whose rows are gone.
    var replaced: [NSManagedObject] = []
    /// The sets of objects in the save's notifications.
    var posted = PostedObjects()
    /// The contexts that merge what was saved once the save is over.
    var waitingMergers: [NSManagedObjectContext] = []
    /// Called with the objects that were inserted, updated and deleted.
    var follower: (([NSManagedObject], [NSManagedObject], [NSManagedObject]) -> Void)?

    /// Begins a save.
    ///
    /// - Returns: the former state, for `end(_:)`: an observer of a save may save again.
    mutating func begin() -> SaveState {
        let former = self
        if isActive { (replaced, posted) = ([], PostedObjects()) }
        isActive = true
        return former
    }

    /// Ends a save. The contexts that merge it still wait.
    mutating func end(_ former: SaveState) {
        isActive = former.isActive
        replaced = isActive ? former.replaced : []
        posted = isActive ? former.posted : PostedObjects()
    }

    /// Removes and returns the contexts that wait for the end of the save.
    mutating func takeMergers() -> [NSManagedObjectContext] {
        let mergers = waitingMergers
        waitingMergers = []
        return mergers
    }
}

extension NSManagedObjectContext {
    /// Saves, and calls a block with the objects that were inserted, updated and deleted, before the notifications are
    /// posted. An observer of these would have them made with sets of all objects.
    package final func save(
        following follower: @escaping (_ inserted: [NSManagedObject], [NSManagedObject], [NSManagedObject]) -> Void
    ) throws {
        saving.follower = follower
        defer { saving.follower = nil }
        try save()
    }
}

extension NSPersistentStoreCoordinator {
    /// Posts the notifications of a context's save around a save of rows, and informs the contexts that merge. The
    /// context is a new one, and the objects in the notifications are faults.
    package func saving(_ save: () throws -> ChangeSet) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = self
        try context.performAndWait {
            SaveNotifications.post(SaveNotifications.willSave, of: context)
            context.report(try save())
        }
    }
}

extension NSManagedObjectContext {
    /// Reports a save of rows as if objects of the context had been saved.
    fileprivate func report(_ changes: ChangeSet) {
        guard let coordinator else { return }
        // Computed only if it is needed.
        lazy var saved = SavedChanges(
            inserted: changes.inserted.map(\.objectID), updated: changes.updated.map(\.objectID),
            deleted: changes.deleted.map(\.objectID))
        _ = coordinator.announce(from: self) { saved }
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

    /// Whether the context has no objects and no changes.
    package var isUntouched: Bool { changed.isEmpty && event.objects.isEmpty && table.isEmpty && parent == nil }
}
