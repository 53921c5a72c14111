import Foundation

// Undo: the state of objects before an event is registered when its changes are processed.
extension NSManagedObjectContext {
    /// Undoes the last group of changes; changes that are not processed yet are processed first.
    func undoChanges() {
        guard let undoManager else { return }
        processPendingChanges()
        undoManager.undo()
    }

    func redoChanges() {
        guard let undoManager else { return }
        processPendingChanges()
        undoManager.redo()
    }

    // MARK: Registering

    /// Observes the undo manager's checkpoints, so that changes are registered with the group in which they were made.
    func observeCheckpoints() {
        if let checkpoints { NotificationCenter.default.removeObserver(checkpoints) }
        checkpoints = undoManager.map { manager in
            NotificationCenter.default.addObserver(forName: .NSUndoManagerCheckpoint, object: manager, queue: nil) {
                [table] _ in table.context?.processAtCheckpoint()
            }
        }
    }

    private func processAtCheckpoint() {
        // Contexts of several queues may share a manager. A main-queue context may be used off its queue, and one of
        // confinement has none.
        guard canProcess,
            queue.isCurrent || queue.isMainQueue && !checksQueues || concurrencyType == .confinementConcurrencyType
        else { return }
        processPendingChanges()
    }

    /// Whether there are changes to process, and nothing is under way that will process them.
    var canProcess: Bool {
        !event.objects.isEmpty && insertionsUnderWay == 0 && !isAwakening && !isProcessing && !saving.isActive
    }

    /// Registers the event's changes before objects take values from the store: these are nothing to undo.
    func registerBeforeTaking() { if undoManager != nil || workRecord != nil, canProcess { processPendingChanges() } }

    /// Records an object's state before the first change of an event.
    func rememberForUndo(_ object: NSManagedObject, existed: Bool = true) {
        guard workRecord != nil || undoManager?.isUndoRegistrationEnabled == true else { return }
        event.mementos.append(ObjectMemento(object, existed: existed))
    }

    /// Registers how to undo the changes since the last call.
    func registerUndo() {
        guard !event.mementos.isEmpty else { return }
        var remembered = event.mementos
        event.mementos = []
        let undoManager = undoManager.flatMap { $0.isUndoRegistrationEnabled ? $0 : nil }
        guard workRecord != nil || undoManager != nil else { return }
        // Objects that were inserted and deleted within the event, or made faults, leave nothing to undo.
        remembered.removeAll { memento in
            let isThere = memento.object.managedObjectContext != nil
            if memento.existed { return isThere && memento.object.state.isDisjoint(with: .anyEvent) }
            return !isThere || memento.object.isDeleted
        }
        if !event.refreshed.isEmpty {
            // One that was changed, made a fault and changed again has two former states; the later one counts.
            var seen: IdentitySet = []
            remembered = remembered.reversed().filter { seen.insert($0.object) }.reversed()
        }
        guard !remembered.isEmpty else { return }
        for index in remembered.indices { remembered[index].complete(in: self) }
        // A deleted object that is refreshed follows its delete rules again: if nothing has changed, it is not a step.
        if remembered.allSatisfy(\.isIdle) { return }
        workRecord?.add(remembered)
        guard let undoManager else { return }
        let isAlone = !undoManager.groupsByEvent && !undoManager.hasGroup
        if isAlone { undoManager.beginUndoGrouping() }
        undoManager.registerUndo(withTarget: self) { [remembered] in $0.restore(remembered) }
        if isAlone { undoManager.endUndoGrouping() }
    }

    // MARK: Restoring

    /// Restores objects to former states. All of it is one event, which is registered for redo.
    func restore(_ all: [ObjectMemento]) {
        processPendingChanges()
        let wasProcessing = isProcessing
        isProcessing = true
        let mementos = all.filter(\.isRestorable)
        let kinds = mementos.map { kind(of: $0) }
        let areGone = mementos.map { $0.object.managedObjectContext == nil || $0.object.isGone }
        for memento in mementos { restorePresence(of: memento) }
        for (memento, isGone) in zip(mementos, areGone) where memento.existed {
            restoreValues(of: memento, all: isGone)
        }
        for memento in mementos where memento.existed { memento.reconnect() }
        followDeleteRules(after: mementos)
        for (memento, kind) in zip(mementos, kinds) { awake(memento.object, from: kind) }
        isProcessing = wasProcessing
        processPendingChanges()
    }

    /// The event type that an object will be notified of.
    private func kind(of memento: ObjectMemento) -> NSSnapshotEventType {
        if !memento.existed || memento.isDeleted { return .undoInsertion }
        let isThere = memento.object.managedObjectContext === self && !memento.object.isDeleted
        return isThere ? .undoUpdate : .undoDeletion
    }

    private func restorePresence(of memento: ObjectMemento) {
        let object = memento.object
        if !memento.existed {
            guard object.managedObjectContext === self else { return }
            if object.state.contains(.inserted) { return withdrawInsertion(of: object) }
            return markDeleted(object)
        }
        if object.isGone {
            // Others have deleted it, too: it is inserted again, as one whose deletion was saved here.
            withdraw(object)
            forget(object)
            object.snapshot = []
            object.state.remove([.inaccessible, .lost])
            // Beyond the versions that others may have saved before one of them deleted it.
            object.version &+= 1000
        }
        if object.managedObjectContext == nil {
            rememberForUndo(object, existed: false)
            enlist(object)
            if let store = memento.assignedStore { assignedStores[object] = store }
            if memento.isDeleted {
                markDeleted(object)
                deletions.denied.append(object)
            }
        } else if memento.isDeleted {
            markDeleted(object)
            // One that was never saved leaves the context, unless a rule denies it.
            if object.state.contains(.inserted) { deletions.denied.append(object) }
        } else if object.state.contains(.deleted) {
            if object.state.isDisjoint(with: .anyEvent) { rememberForUndo(object) }
            event.add(object)
            object.state.insert(object.state.contains(.inserted) ? .insertedInEvent : .updatedInEvent)
            object.state.remove([.deleted, .deletePropagated, .deletedInEvent])
        }
    }

    private func markDeleted(_ object: NSManagedObject) {
        guard !object.state.contains(.deleted) else { return }
        noteDeletion(of: object)
        // Its relationships are restored first; see `followDeleteRules(after:)`.
        object.state.insert(.deletePropagated)
    }

    /// Removes an object that was never saved from the context.
    private func withdrawInsertion(of object: NSManagedObject) {
        if object.state.isDisjoint(with: .anyEvent) { rememberForUndo(object) }
        withdraw(object)
        event.removed.append(object)
        forget(object)
    }

    private func restoreValues(of memento: ObjectMemento, all: Bool) {
        let object = memento.object
        object.willChange()
        let left = all ? [] : memento.destinationsToLeave
        if object.state.contains(.observed) {
            object.notifyingObservers(ofKeys: { memento.differs(inKey: $0, all: all) }) {
                memento.restoreValues(all: all)
            }
        } else {
            memento.restoreValues(all: all)
        }
        for (inverse, destination) in left { destination.disconnect(inverse, from: object) }
        if object.state.isDisjoint(with: [.inserted, .deleted]) {
            if object.hasPersistentChanges {
                object.state.insert(.updated)
            } else if object.state.contains(.updated) {
                changed.willWithdraw(object)
                object.state.remove(.updated)
            }
        }
    }

    /// Applies the delete rules of objects that are marked as deleted again, to objects that others have connected
    /// since.
    private func followDeleteRules(after mementos: [ObjectMemento]) {
        let deleted = mementos.filter {
            $0.object.state.contains(.deletedInEvent) && !$0.object.state.contains(.inserted)
        }
        guard !deleted.isEmpty else { return }
        let objects = deleted.map(\.object)
        for object in objects { object.state.remove(.deletePropagated) }
        loadDestinations(ofDeleted: objects[...])
        for memento in deleted { memento.object.keepDestinationsLeadingHere(elseAll: memento.existed) }
        deletions.unpropagated += objects
    }
}

extension NSManagedObject {
    /// Removes objects whose inverse is known not to be this one from the relationships of a deleted object: their
    /// former inverse was restored.
    ///
    /// - Parameter keepsOthers: whether the destinations of relationships without an inverse stay.
    fileprivate final func keepDestinationsLeadingHere(elseAll keepsOthers: Bool) {
        for relationship in layout.relationships where relationship.deleteRule != .noActionDeleteRule {
            let inverse = relationship.inverse
            if inverse == nil, keepsOthers { continue }
            func leadsHere(_ object: NSManagedObject) -> Bool {
                guard let inverse else { return false }
                guard inverse.isToMany else { return object.toOne(inverse) === self }
                guard let members = object.toManyMembersIfAny(inverse), members.isLoaded else { return true }
                return members.contains(self)
            }
            if relationship.isToMany {
                let members = loadedToManyMembers(relationship)
                let kept = members.all.filter(leadsHere)
                if kept.count < members.all.count { members.replaceAll(by: kept, isReordered: members.isReordered) }
            } else if let destination = toOne(relationship), !leadsHere(destination) {
                values[relationship.slot] = .null
                relations[relationship.index] = .toOne(nil)
            }
        }
    }
}
