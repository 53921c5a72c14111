// Values that come otherwise than by accessors: faults, refreshes, merges, rollback and undo.
//
// As Core Data's guide on faulting says, an object that becomes a fault tells of its properties, and tells again when it takes its values,
// though they may be the same. For the rest there is no rule to be found: here, what differs is told of.
extension NSManagedObject {
    /// Gives the object other values, and tells the observers of what is concerned. Callers have looked for the state `observed`.
    ///
    /// - Parameters:
    ///   - concerned: whether the property of an observed key takes another value.
    ///   - change: what gives the object its values.
    final func tellingObservers(ofKeys concerned: (String) -> Bool, _ change: () -> Void) {
        guard let info = ObservationInfo.of(self), !info.isTakingValues else { return change() }
        let keys = info.keys.filter { layout.propertyByName[$0] != nil && concerned($0) }
        if keys.isEmpty { return change() }
        // A fault that an observer fires by looking at it is part of the change.
        info.isTakingValues = true
        let hearing = info.begin { keys.contains($0) }
        for key in keys { info.beQuiet(about: key) }
        change()
        for key in keys { info.speak(of: key) }
        info.finish(hearing)
        info.isTakingValues = false
    }

    /// Gives the object other values: of properties with slots, those that differ are told of.
    final func tellingObservers(of stored: ContiguousArray<StoredValue>, _ change: () -> Void) {
        let former = values
        tellingObservers(
            ofKeys: { key in
                guard former.count == stored.count, case .slot(let slot)? = layout.propertyByName[key] else {
                    return false
                }
                return former[slot] != stored[slot]
            }, change)
    }

    /// Forgets the changes, and tells the observers of what was changed.
    final func tellingObserversOfRollback(_ change: () -> Void) {
        tellingObservers(
            ofKeys: { key in
                switch layout.propertyByName[key] {
                case .slot(let slot): values.count == snapshot.count && values[slot] != snapshot[slot]
                case .toMany(let index): toManyMembersIfAny(layout.relationships[index])?.hasChanges ?? false
                case .fetched, nil: false
                }
            }, change)
    }

    /// Has to-many relationships read again, and tells the observers of those that prove to have other members; where nobody has read one
    /// yet, of that.
    final func tellingObserversOfMembers(_ change: () -> Void) {
        tellingObservers(
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
    /// Takes a value that the store computed when the object was saved.
    final func takeComputed(_ value: StoredValue, at slot: Int) {
        let change = {
            self.values[slot] = value
            self.snapshot[slot] = value
        }
        guard state.contains(.observed), values[slot] != value else { return change() }
        tellingObservers(ofKeys: { $0 == layout.slots[slot].name }, change)
    }
}
