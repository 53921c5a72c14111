import Foundation

extension NSManagedObject {
    final func register(
        _ observer: any NSKeyValueObserving, _ keyPath: String, _ options: NSKeyValueObservingOptions,
        _ context: UnsafeMutableRawPointer?
    ) {
        let reference = ObserverReference(observer)
        ObservingRegistration(self, ObservedPath(name: keyPath), options, .observer(reference, context: context))
            .begin()
    }

    /// Ends an observer's latest registration for a key path; with a `context`, the latest with that context.
    final func unregister(
        _ observer: any NSKeyValueObserving, _ keyPath: String, context: UnsafeMutableRawPointer?? = nil
    ) {
        let registration = ObservationInfo.of(self)?.ownRegistrations.last {
            guard $0.belongs(to: observer, keyPath), case .observer(_, let own) = $0.receiver else { return false }
            return context.map { $0 == own } ?? true
        }
        guard let registration else {
            programmerError(
                "cannot remove a \(type(of: observer)) that is not an observer of “\(keyPath)” of a \(layout.name)")
        }
        registration.end()
    }

    /// A pointer to the observers, for code that only checks whether there are any.
    final var pointerToObservers: UnsafeMutableRawPointer? {
        guard state.contains(.observed), let info = ObservationInfo.of(self), info.isObserved else { return nil }
        return Unmanaged.passUnretained(info).toOpaque()
    }

    /// The key under which changes are reported: the name of the property that key-value coding finds for it.
    final func observedKey(_ key: String) -> String {
        layout.propertyByName[key] == nil ? layout.nameByAccessor(of: key) ?? key : key
    }

    // MARK: Changes by accessors

    /// The implementation of `willChangeValue(forKey:)`, unless the object is already known to be changed and has no
    /// observer.
    @inline(never)
    final func noteChange(ofKey key: String) {
        // A property that is not in the model needs no saving.
        if layout.place(forKey: key) != nil || !type(of: self).contextShouldIgnoreUnmodeledPropertyChanges {
            willChange()
        }
        if state.contains(.observed) { notifyWillChange(key) }
    }

    private func notifyWillChange(_ key: String) {
        guard let info = ObservationInfo.of(self), notifiesObservers else { return }
        let change = info.announced ?? .setting
        info.announced = nil
        info.willChange(key, of: self, change)
    }

    @inline(never)
    final func notifyDidChange(_ key: String) {
        guard notifiesObservers else { return }
        ObservationInfo.of(self)?.didChange(key, of: self)
    }

    /// Properties that an object sets while it awakes are part of taking its values, and not reported.
    private var notifiesObservers: Bool { storedContext?.isAwakening != true }

    /// Announces the change for which `willChangeValue(forKey:)` will be called next.
    final func announce(_ change: () -> ObservedChange) {
        if state.contains(.observed) { ObservationInfo.of(self)?.announced = change() }
    }

    /// Combines several changes of a property into one for its observers.
    final func asOneChange(_ key: String, _ change: () -> ObservedChange, _ body: () -> Void) {
        guard state.contains(.observed), notifiesObservers, let info = ObservationInfo.of(self) else { return body() }
        info.willChange(key, of: self, change())
        info.suppressNotifications(for: key)
        body()
        info.resumeNotifications(for: key)
        info.didChange(key, of: self)
    }

    /// Sets a property without notifying observers; the caller does that.
    final func withoutNotifying(_ key: String, _ body: () -> Void) {
        guard state.contains(.observed), let info = ObservationInfo.of(self) else { return body() }
        info.suppressNotifications(for: key)
        body()
        info.resumeNotifications(for: key)
    }

    // MARK: Changes of members

    final func willChangeSet(
        _ key: String, _ kind: NSKeyValueSetMutationKind, _ objects: Set<AnyHashable>
    ) {
        announce {
            let present = Set(Self.objects(in: primitiveMembers(key)) ?? [])
            let given = Set(objects.compactMap { $0.base as? NSManagedObject })
            switch kind {
            case .union: return .coming(given.subtracting(present))
            case .minus: return .leaving(given.intersection(present))
            case .intersect: return .leaving(present.subtracting(given))
            case .set:
                let (old, new) = (present.subtracting(given), given.subtracting(present))
                return .members(.replacement, old: NSSet(set: old), new: NSSet(set: new), indexes: nil)
            }
        }
        willChangeValue(forKey: key)
        endAnnouncement()
    }

    final func willChangeMembers(_ key: String, _ kind: NSKeyValueChange, _ indexes: IndexSet) {
        announce {
            if kind == .setting { return .setting }
            let old = kind == .insertion ? nil : members(ofOrdered: key, at: indexes)
            return .members(kind, old: old, new: nil, indexes: indexes)
        }
        willChangeValue(forKey: key)
        endAnnouncement()
    }

    /// Ends an announcement, since an override may not have called `super`.
    final func endAnnouncement() {
        if state.contains(.observed) { ObservationInfo.of(self)?.announced = nil }
    }

    /// The members of a relationship at some indexes, as an array; indexes beyond the end are left out.
    final func members(ofOrdered key: String, at indexes: IndexSet) -> NSArray {
        let members = Self.objects(in: primitiveMembers(key)) ?? []
        return indexes.filter { members.indices.contains($0) }.map { members[$0] } as NSArray
    }

    private func primitiveMembers(_ key: String) -> Any? {
        layout.place(forKey: key) == nil ? value(forKey: key) : modeledValue(forKey: key)
    }
}

extension ObservedChange {
    /// Members are added to an unordered relationship.
    static func coming(_ objects: Set<NSManagedObject>) -> ObservedChange {
        objects.isEmpty ? .nothing : .members(.insertion, old: nil, new: NSSet(set: objects), indexes: nil)
    }

    /// Members are removed from an unordered relationship.
    static func leaving(_ objects: Set<NSManagedObject>) -> ObservedChange {
        objects.isEmpty ? .nothing : .members(.removal, old: NSSet(set: objects), new: nil, indexes: nil)
    }
}

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
