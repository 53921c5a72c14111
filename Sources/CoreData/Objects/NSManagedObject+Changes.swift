import Foundation

extension NSManagedObject {
    final func currentChanges() -> [String: Any] {
        hasTrackedChanges ? currentValues(of: persistentChangedKeys()) : [:]
    }

    /// Whether the object counts as changed. Primitive values that were set without informing the context do not count.
    final var hasTrackedChanges: Bool {
        !isFault && (!state.isDisjoint(with: [.inserted, .updated]) || storedContext == nil)
    }

    final func formerValuesOfEvent() -> [String: Any] {
        guard !state.isDisjoint(with: [.updatedInEvent, .insertedInEvent, .deletedInEvent, .posting]), !isFault else {
            return [:]
        }
        // The event began with the committed values, unless an earlier event had changed them.
        let kept = storedContext?.event.formerValues(of: self)
        let former = kept?.values ?? snapshot
        var result: [String: Any] = [:]
        for slot in values.indices
        where slot < former.count && values[slot] != former[slot] && !layout.slots[slot].isTransient {
            result[layout.slots[slot].name] = objectValue(former[slot], at: slot) ?? NSNull()
        }
        for relationship in layout.toManys where !relationship.isTransient {
            guard let members = toManyMembersIfAny(relationship) else { continue }
            if let kept {
                result[relationship.name] = members.formerValue(kept.members[relationship.index] ?? MemberChanges())
            } else if members.hasChanges {
                result[relationship.name] = members.committedValue
            }
        }
        return result
    }

    final func valuesAsCommitted(_ keys: [String]?) -> [String: Any] {
        if isFault { fireFault() }
        let wanted = keys ?? layout.propertyByName.keys.sorted()
        var result: [String: Any] = [:]
        for key in wanted {
            switch layout.propertyByName[key] {
            case .slot(let slot):
                // As in Core Data, neither a property that was never saved nor a transient one has a committed value.
                if layout.slots[slot].isTransient { continue }
                if !state.contains(.inserted) { result[key] = objectValue(snapshot[slot], at: slot) ?? NSNull() }
            case .toMany(let index):
                let relationship = layout.relationships[index]
                if relationship.isTransient { continue }
                result[key] = loadedToManyMembers(relationship).committedValue
            case .fetched: continue
            case nil: unknownKey(key)
            }
        }
        return result
    }

    private func objectValue(_ value: StoredValue, at slot: Int) -> Any? {
        switch layout.slots[slot].kind {
        case .attribute(let attribute): return value.objectValue(for: attribute)
        case .toOne:
            guard case .identifier(let identifier) = value else { return nil }
            return storedContext?.object(with: identifier)
        }
    }

    private func currentValues(of keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, modeledValue(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether any stored property differs from the store.
    final var hasPersistentChanges: Bool {
        !changedSlots().isEmpty
            || layout.toManys.contains { !$0.isTransient && toManyMembersIfAny($0)?.hasChanges ?? false }
    }

    /// The keys of the properties that differ from the store.
    final func persistentChangedKeys() -> [String] {
        guard !isFault else { return [] }
        var keys = changedSlots().map { layout.slots[$0].name }
        for relationship in layout.toManys
        where !relationship.isTransient && toManyMembersIfAny(relationship)?.hasChanges ?? false {
            keys.append(relationship.name)
        }
        return keys
    }

    /// The slots that differ from the store, as in `changedSlots()`; if they equal another object's, its array is
    /// returned.
    final func changedSlots(orThoseOf other: [Int]) -> [Int] {
        guard values.count == snapshot.count, !isAsStored else { return [] }
        var place = 0
        for slot in values.indices where values[slot] != snapshot[slot] && !layout.slots[slot].isTransient {
            guard place < other.count, other[place] == slot else { return changedSlots() }
            place += 1
        }
        return place == other.count ? other : changedSlots()
    }

    /// Whether values and snapshot share one buffer, so that nothing was written.
    private final var isAsStored: Bool {
        values.withUnsafeBufferPointer { current in
            snapshot.withUnsafeBufferPointer { current.baseAddress == $0.baseAddress }
        }
    }

    /// The slots that differ from the store, ascending.
    final func changedSlots(includingTransient: Bool = false) -> [Int] {
        guard values.count == snapshot.count, !isAsStored else { return [] }
        var changed: [Int] = []
        for slot in values.indices where values[slot] != snapshot[slot] {
            if includingTransient || !layout.slots[slot].isTransient { changed.append(slot) }
        }
        return changed
    }

    /// The changes of to-many relationships, in the form that the store takes.
    final func toManyChanges() -> [ToManyChange] {
        guard !relations.isEmpty else { return [] }
        var changes: [ToManyChange] = []
        for relationship in layout.toManys where !relationship.isTransient {
            guard var members = toManyMembersIfAny(relationship), members.hasChanges else { continue }
            // Members added from their own side are at the end of the order, which must be known, and what was taken
            // back may be as it is stored.
            if !members.isLoaded, relationship.isOrdered && !members.added.isEmpty || members.isUncertain {
                members = loadedToManyMembers(relationship)
                guard members.hasChanges else { continue }
            }
            changes.append(
                ToManyChange(
                    relationship: relationship,
                    added: Self.inOrder(members.added).map(\.identifier),
                    removed: Self.inOrder(members.removed).map(\.identifier),
                    order: relationship.isOrdered ? members.all.map(\.identifier) : nil))
        }
        return changes
    }

    /// Objects in the order of their keys, new ones last. Sets have no order, and every run shall save in the same
    /// order.
    package static func inOrder(_ objects: some Sequence<NSManagedObject>) -> [NSManagedObject] {
        objects.sorted { $0.isInOrder(before: $1) }
    }

    /// Makes the present values the committed ones.
    final func becomeCommitted(version: Int64) {
        self.version = version
        snapshot = values
        state.remove([.inserted, .updated, .deleted, .listed, .deletePropagated, .watched])
        state.remove(.anyEvent)
        for relation in relations {
            if case .toMany(let members) = relation { members.didSave() }
        }
    }

    /// Discards all changes; the values become those last fetched or saved.
    final func becomeUnchanged() {
        if state.contains(.observed) { notifyingObserversOfRollback(forgetChanges) } else { forgetChanges() }
    }

    private func forgetChanges() {
        values = snapshot
        forgetRelationships()
        state.remove([.updated, .deleted, .listed, .deletePropagated, .watched])
        state.remove(.anyEvent)
    }

    /// Resets the object to a newly made one: its snapshot is the defaults.
    final func becomeNew() {
        values = snapshot
        relations = []
        state.remove([.deleted, .deletePropagated, .deletedInEvent])
        awakeFromInsert()
    }

    /// Makes the object a fault: discards values, changes and relationships.
    final func becomeFault() {
        guard !state.contains(.fault) || !values.isEmpty else { return }
        willTurnIntoFault()
        // No observer has read the values of a fault.
        if state.contains(.observed), !isFault {
            notifyingObservers(ofKeys: { _ in true }, forgetValues)
        } else {
            forgetValues()
        }
    }

    private func forgetValues() {
        values = []
        snapshot = []
        relations = []
        state.remove([.updated, .deleted, .valuesPending, .inBatch, .deletePropagated, .watched, .inaccessible, .lost])
        state.remove(.anyEvent)
        state.insert(.fault)
        didTurnIntoFault()
    }

    final func adopt(_ row: Row, keepingChanges: Bool) {
        adopt(row.values, version: row.version, keepingChanges: keepingChanges)
    }

    /// Takes the values of a row, except those that were changed here if `keepingChanges`.
    ///
    /// An object that counts as deleted elsewhere was inserted again: it takes all values, and is there again.
    final func adopt(_ stored: ContiguousArray<StoredValue>, version: Int64, keepingChanges: Bool) {
        let isBack = isGone && storedContext?.readFailures[identifier] == nil
        if isBack { storedContext?.withdraw(self) }
        let keepingChanges = keepingChanges && !isBack
        if state.contains(.observed) {
            let future = keepingChanges ? merged(with: stored, keeping: changedSlots()) : stored
            return notifyingObservers(of: future) { take(stored, version: version, keepingChanges: keepingChanges) }
        }
        take(stored, version: version, keepingChanges: keepingChanges)
    }

    /// The values of a row, combined with the present values of some slots and of transient properties.
    private func merged(
        with stored: ContiguousArray<StoredValue>, keeping slots: [Int]
    ) -> ContiguousArray<StoredValue> {
        if state.contains(.fault) { return stored }
        var merged = stored
        for slot in slots { merged[slot] = values[slot] }
        for slot in layout.slots.indices where layout.slots[slot].isTransient { merged[slot] = values[slot] }
        return merged
    }

    private func take(_ row: ContiguousArray<StoredValue>, version: Int64, keepingChanges: Bool) {
        let stored = layout.withTransientDefaults(row)
        if keepingChanges, !state.contains(.fault) {
            let changed = changedSlots()
            let merged = merged(with: stored, keeping: changed)
            for relationship in layout.toOnes where !relations.isEmpty && !changed.contains(relationship.slot) {
                relations[relationship.index] = .unresolved
            }
            values = merged
            if state.contains(.listed) { storedContext?.changed.indexAgain(self) }
        } else {
            values = stored
            forgetRelationships()
        }
        snapshot = stored
        self.version = version
        state.remove([.fault, .valuesPending, .inBatch, .inaccessible, .lost])
    }

    /// Whether the object counts as deleted because its row is gone.
    final var isGone: Bool { state.isSuperset(of: [.deleted, .inaccessible]) }
}
