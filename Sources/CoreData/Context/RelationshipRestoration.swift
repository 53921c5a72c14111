import StoreEngine

/// The stored rows of destinations.
struct DestinationRows {
    /// The destinations that were read, with or without a row.
    var requested: Set<NSManagedObjectID> = []
    var rows: [NSManagedObjectID: Row] = [:]
    var stamp: UInt32 = 0
}

/// The known destinations of an object, recorded before a merge policy changes them or their inverses.
struct RelationshipSnapshot {
    let object: NSManagedObject
    private let toOnes: [(relationship: RelationshipLayout, value: StoredValue)]
    private let toManys: [(relationship: RelationshipLayout, members: [NSManagedObject])]

    init(_ object: NSManagedObject) {
        self.object = object
        toOnes = object.layout.toOnes.compactMap { relationship in
            let value = object.values[relationship.slot]
            return value == .null ? nil : (relationship, value)
        }
        toManys = object.layout.toManys.compactMap { relationship in
            object.toManyMembersIfAny(relationship).map { (relationship, $0.all) }
        }
    }

    /// The IDs of the destinations that may be stored.
    var identifiers: [NSManagedObjectID] {
        let destinations = toOnes.compactMap { toOne -> NSManagedObjectID? in
            if case .identifier(let identifier) = toOne.value { identifier } else { nil }
        }
        return (destinations + toManys.flatMap { $0.members.map(\.identifier) }).filter { !$0.isTemporaryID }
    }

    /// Restores the former destinations of an object that is inserted again, where it has none now.
    func restore() {
        guard object.state.contains(.observed) else { return restoreDestinations() }
        let names = Set(toOnes.map(\.relationship.name) + toManys.map(\.relationship.name))
        object.notifyingObservers(ofKeys: names.contains, restoreDestinations)
    }

    private func restoreDestinations() {
        for (relationship, value) in toOnes where object.values[relationship.slot] == .null {
            object.values[relationship.slot] = value
            if !object.relations.isEmpty { object.relations[relationship.index] = .unresolved }
        }
        for (relationship, former) in toManys {
            let members = object.toManyMembers(relationship)
            members.becomeNew()
            let known = former.filter { $0.storedContext === object.storedContext }
            guard !known.allSatisfy(members.contains) else { continue }
            let kept = IdentitySet(known)
            members.replaceAll(
                by: known + members.all.filter { !kept.contains($0) }, isReordered: members.isReordered)
        }
    }
}

// The inverses of relationships, where a merge policy replaces changes made here, or inserts an object again.
extension NSManagedObject {
    /// The destinations of all relationships.
    final var allDestinations: [NSManagedObject] { layout.relationships.flatMap(destinationsInOrder) }

    /// Lets a merge policy give the object other values, or make it a fault, and updates the inverses of its to-one
    /// relationships: former destinations forget the object, and the new one is read again. Otherwise a delete rule
    /// would follow a relationship of which only one end is set.
    ///
    /// - Parameters:
    ///   - keepsChanges: whether destinations keep inverses that were changed here; see `KeptDestinations.swift`.
    ///   - change: gives the object its values.
    final func updatingInverses(keepsChanges: Bool = false, _ change: () -> Void) {
        guard let context = storedContext, values.count == snapshot.count, !values.isEmpty else { return change() }
        let (former, committed) = (values, snapshot)
        change()
        let present = values.isEmpty ? committed : values
        for relationship in layout.toOnes where present[relationship.slot] != former[relationship.slot] {
            guard let inverse = relationship.inverse else { continue }
            func destination(_ values: ContiguousArray<StoredValue>) -> NSManagedObject? {
                guard case .identifier(let identifier) = values[relationship.slot] else { return nil }
                return context.registeredObject(for: identifier).flatMap { $0.isFault ? nil : $0 }
            }
            let new = destination(present)
            var seen: IdentitySet = []
            for case let end? in [destination(former), destination(committed), new] where seen.insert(end) {
                if inverse.isToMany {
                    end.readAgain(inverse, without: self)
                } else if end !== new, end.refers(inverse, toOneOf: [identifier]) {
                    end.forgetDestination(of: inverse)
                } else if end === new, !end.refers(inverse, toOneOf: [identifier]) {
                    if keepsChanges, end.hasChanged(inverse) { continue }
                    let other = end.toOne(inverse)
                    end.renew(inverse, pointingTo: self)
                    if let other, other !== self, other.refers(relationship, toOneOf: [end.identifier]) {
                        other.forgetDestination(of: relationship)
                        context.event.refreshed.append(other)
                    }
                }
                context.event.refreshed.append(end)
            }
        }
    }

    /// Reads the members of a to-many relationship again, and forgets that one of them was added or removed here.
    private final func readAgain(_ relationship: RelationshipLayout, without member: NSManagedObject) {
        let change = { [self] in toManyMembersIfAny(relationship)?.forget([member]) ?? () }
        if state.contains(.observed) {
            notifyingObservers(ofKeys: { $0 == relationship.name }, change)
        } else {
            change()
        }
        refreshToManys()
    }

    /// Sets the inverse to an object. The row already refers to the object, and may have other new values too, so it is
    /// read again if nothing was changed here.
    private final func renew(_ relationship: RelationshipLayout, pointingTo object: NSManagedObject) {
        guard hasChanges else { return becomeFault() }
        takeValue(.identifier(object.identifier), of: relationship)
    }

    /// Connects the inverses of all relationships to this object, which was deleted and is inserted again. Destinations
    /// that are deleted, or belong to another object now, are left out.
    final func connectInverses() {
        for relationship in layout.relationships {
            for end in destinationsInOrder(relationship) {
                if end.isFault, !end.isDeleted, end.storedContext != nil { end.fireFault() }
                if end.isDeleted || end.storedContext == nil {
                    disconnect(relationship, from: end)
                    continue
                }
                guard let inverse = relationship.inverse else { continue }
                if inverse.isToMany {
                    let members = end.toManyMembersIfAny(inverse)
                    // If the members are not loaded, the stored rows contain this object, unless it is inserted anew.
                    let isKnown = members?.contains(self) ?? !state.contains(.inserted)
                    if !isKnown { end.connect(inverse, to: self) }
                } else if let other = end.toOne(inverse), !other.isDeleted {
                    if other !== self { disconnect(relationship, from: end) }
                } else {
                    end.connect(inverse, to: self)
                }
            }
        }
    }
}
