import StoreEngine

/// What the store says of objects at the other ends of relationships.
struct ReadEnds {
    var asked: Set<NSManagedObjectID> = []
    var rows: [NSManagedObjectID: Row] = [:]
    var stamp: UInt32 = 0
}

/// What an object led to, as far as was known, before a merge policy took values of others for the other ends.
struct FormerEnds {
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

    /// The IDs of the other ends that may be stored.
    var identifiers: [NSManagedObjectID] {
        let destinations = toOnes.compactMap { toOne -> NSManagedObjectID? in
            if case .identifier(let identifier) = toOne.value { identifier } else { nil }
        }
        return (destinations + toManys.flatMap { $0.members.map(\.identifier) }).filter { !$0.isTemporaryID }
    }

    /// Has the object, which is new now, lead there again where it leads to nothing.
    func restore() {
        guard object.state.contains(.observed) else { return restoreEnds() }
        let names = Set(toOnes.map(\.relationship.name) + toManys.map(\.relationship.name))
        object.tellingObservers(ofKeys: names.contains, restoreEnds)
    }

    private func restoreEnds() {
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

// The other ends of relationships, where a merge policy replaces what they were set to here, or brings an object back.
extension NSManagedObject {
    /// The objects at the other ends of all relationships.
    final var allDestinations: [NSManagedObject] { layout.relationships.flatMap(destinationsInOrder) }

    /// Has a merge policy give the object other values, or make it a fault.
    ///
    /// Where a to-one relationship leads elsewhere then, the former destinations forget the object, and the new one reads
    /// its end again. Otherwise a deletion would follow what only one end says.
    final func takingOthersEnds(_ change: () -> Void) {
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
                } else if end !== new, end.leads(inverse, toOneOf: [identifier]) {
                    end.forgetDestination(of: inverse)
                } else if end === new, !end.leads(inverse, toOneOf: [identifier]) {
                    end.lead(inverse, backTo: self)
                }
                context.refreshed.append(end)
            }
        }
    }

    /// Reads the members of a to-many relationship again, and forgets what was done here to one of them.
    private final func readAgain(_ relationship: RelationshipLayout, without member: NSManagedObject) {
        let change = { [self] in toManyMembersIfAny(relationship)?.forget([member]) ?? () }
        if state.contains(.observed) {
            tellingObservers(ofKeys: { $0 == relationship.name }, change)
        } else {
            change()
        }
        refreshToManys()
    }

    private final func lead(_ relationship: RelationshipLayout, backTo object: NSManagedObject) {
        // Its row says so, and may differ otherwise, too.
        guard hasChanges else { return becomeFault() }
        takeValue(.identifier(object.identifier), of: relationship)
    }

    /// Has the other ends of all relationships lead to this object, which was deleted and comes back. It leaves what is
    /// deleted, and what leads to another object now.
    final func connectOtherEnds() {
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
                    // The rows of an object that the store still has say so.
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
