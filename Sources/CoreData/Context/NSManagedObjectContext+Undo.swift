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

    /// Records an object's state before the first change of an event.
    func rememberForUndo(_ object: NSManagedObject, existed: Bool = true) {
        guard let undoManager, undoManager.isUndoRegistrationEnabled else { return }
        mementos.append(ObjectMemento(object, existed: existed))
    }

    /// Registers how to undo the changes since the last call.
    func registerUndo() {
        guard !mementos.isEmpty else { return }
        var remembered = mementos
        mementos = []
        guard let undoManager, undoManager.isUndoRegistrationEnabled else { return }
        // Objects that were inserted and deleted within the event leave nothing to undo.
        remembered.removeAll { !$0.existed && ($0.object.isDeleted || $0.object.managedObjectContext == nil) }
        guard !remembered.isEmpty else { return }
        for index in remembered.indices { remembered[index].complete() }
        undoManager.registerUndo(withTarget: self) { [remembered] in $0.restore(remembered) }
    }

    /// Restores objects to former states. All of it is one event, which is registered for redo.
    private func restore(_ mementos: [ObjectMemento]) {
        processPendingChanges()
        let kinds = mementos.map { kind(of: $0) }
        let areGone = mementos.map { $0.object.managedObjectContext == nil }
        for memento in mementos { restorePresence(of: memento) }
        for (memento, isGone) in zip(mementos, areGone) where memento.existed {
            restoreValues(of: memento, all: isGone)
        }
        for (memento, kind) in zip(mementos, kinds) { awake(memento.object, from: kind) }
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
        if object.managedObjectContext == nil {
            rememberForUndo(object, existed: false)
            enlist(object)
            if memento.isDeleted {
                markDeleted(object)
                denied.append(object)
            }
        } else if memento.isDeleted {
            markDeleted(object)
        } else if object.state.contains(.deleted) {
            if object.state.isDisjoint(with: .anyEvent) { rememberForUndo(object) }
            event.append(object)
            object.state.insert(object.state.contains(.inserted) ? .insertedInEvent : .updatedInEvent)
            object.state.remove([.deleted, .deletePropagated, .deletedInEvent])
        }
    }

    private func markDeleted(_ object: NSManagedObject) {
        guard !object.state.contains(.deleted) else { return }
        noteDeletion(of: object)
        // Its relationships are restored one by one.
        object.state.insert(.deletePropagated)
    }

    /// Removes an object that was never saved from the context.
    private func withdrawInsertion(of object: NSManagedObject) {
        if object.state.isDisjoint(with: .anyEvent) { rememberForUndo(object) }
        withdraw(object)
        vanished.append(object)
        forget(object)
    }

    private func restoreValues(of memento: ObjectMemento, all: Bool) {
        let object = memento.object
        object.willChange()
        if object.state.contains(.observed) {
            object.tellingObservers(ofKeys: { memento.differs(inKey: $0, all: all) }) {
                memento.restoreValues(all: all)
            }
        } else {
            memento.restoreValues(all: all)
        }
        if object.state.isDisjoint(with: [.inserted, .deleted]) {
            if object.hasPersistentChanges {
                object.state.insert(.updated)
            } else if object.state.contains(.updated) {
                object.state.remove(.updated)
                idleCount += 1
            }
        }
    }
}
