// Values that are set other than by accessors: faults, refreshes, merges, rollback and undo.
//
// As Core Data's guide on faulting says, an object notifies observers of its properties when it becomes a fault and
// again when it takes its values, even if they are unchanged. No rule is documented for the other cases: here,
// observers are notified of properties that differ.
extension NSManagedObject {
    /// Gives the object other values, and notifies the observers of the concerned keys. The caller has checked the
    /// state `observed`.
    ///
    /// - Parameters:
    ///   - concerned: whether the property of an observed key takes another value.
    ///   - change: sets the values.
    final func notifyingObservers(ofKeys concerned: (String) -> Bool, _ change: () -> Void) {
        guard let info = ObservationInfo.of(self), !info.isTakingValues else { return change() }
        let keys = info.keys.filter { layout.propertyByName[$0] != nil && concerned($0) }
        if keys.isEmpty { return change() }
        // If an observer reads the object and fires the fault, that is part of the change.
        info.isTakingValues = true
        let context = storedContext
        let notifications = info.begin { keys.contains($0) }
        for key in keys { info.suppressNotifications(for: key) }
        // An observer may have reset the context, whose objects have no values any more.
        if storedContext === context { change() }
        for key in keys { info.resumeNotifications(for: key) }
        info.finish(notifications)
        info.isTakingValues = false
    }

    /// Gives the object other values, and notifies observers of the slots that differ.
    final func notifyingObservers(of stored: ContiguousArray<StoredValue>, _ change: () -> Void) {
        let former = values
        notifyingObservers(
            ofKeys: { key in
                guard former.count == stored.count, case .slot(let slot)? = layout.propertyByName[key] else {
                    return false
                }
                return former[slot] != stored[slot]
            }, change)
    }

    /// Discards the changes, and notifies the observers of what was changed.
    final func notifyingObserversOfRollback(_ change: () -> Void) {
        notifyingObservers(
            ofKeys: { key in
                switch layout.propertyByName[key] {
                case .slot(let slot): values.count == snapshot.count && values[slot] != snapshot[slot]
                case .toMany(let index): toManyMembersIfAny(layout.relationships[index])?.hasChanges ?? false
                case .fetched, nil: false
                }
            }, change)
    }

    /// Makes to-many relationships read their members again, and notifies the observers of those whose members differ,
    /// or that had not been read yet.
    final func notifyingObserversOfMembers(_ change: () -> Void) {
        notifyingObservers(
            ofKeys: { key in
                guard case .toMany(let index)? = layout.propertyByName[key] else { return false }
                let relationship = layout.relationships[index]
                guard let former = toManyMembersIfAny(relationship), former.isLoaded else { return true }
                let present =
                    former.hasChanges
                    ? former.rereading : ToManyMembers(isOrdered: relationship.isOrdered, isLoaded: false)
                if present === former { return false }
                storedContext?.load(present, of: relationship, for: self)
                return relationship.isOrdered ? former.all != present.all : former.members != present.members
            }, change)
    }
}

extension NSManagedObject {
    /// Takes a value that the store computed during a save.
    final func takeComputed(_ value: StoredValue, at slot: Int) {
        let change = {
            self.values[slot] = value
            self.snapshot[slot] = value
        }
        guard state.contains(.observed), values[slot] != value else { return change() }
        notifyingObservers(ofKeys: { $0 == layout.slots[slot].name }, change)
    }
}
