import StoreEngine

/// An object that has taken a row, with the values that it was known to have in the store before.
struct RowTaker {
    let object: NSManagedObject
    let former: ContiguousArray<StoredValue>

    init(_ object: NSManagedObject) { (self.object, former) = (object, object.snapshot) }
}

// Relationships that were changed here and by others. Where the changes made here are kept, the objects that others
// have connected must let go: otherwise only one end of a relationship would say that it exists.
extension NSManagedObjectContext {
    /// Lets both ends of relationships agree again after objects have taken rows, and kept changes made here.
    ///
    /// - Parameters:
    ///   - takers: the objects.
    ///   - rereadsEnds: whether unchanged objects that rows lead to have to be read first.
    func settleKeptDestinations(of takers: [RowTaker], rereadsEnds: Bool = false) {
        guard !changed.isEmpty else { return }
        var left: [(end: NSManagedObject, inverse: RelationshipLayout, object: NSManagedObject)] = []
        var met = left
        for taker in takers where keeps(taker.object) && !taker.object.isFault && !taker.object.isDeleted {
            let object = taker.object
            for relationship in object.layout.toOnes where !relationship.isTransient {
                guard let inverse = relationship.inverse, object.snapshot.indices.contains(relationship.slot) else {
                    continue
                }
                let isChanged = object.hasChanged(relationship)
                if isChanged, rereadsEnds {
                    if !inverse.isToMany, let end = object.toOne(relationship) {
                        met.append((end, inverse, object))
                    } else if let end = object.destinationWithout(relationship, inverse) {
                        end.regain(inverse, object)
                    }
                }
                guard case .identifier(let identifier) = object.snapshot[relationship.slot] else { continue }
                if isChanged {
                    let isSame =
                        taker.former.count == object.snapshot.count
                        && taker.former[relationship.slot] == object.snapshot[relationship.slot]
                    if !isSame { left.append((objectOrFault(identifier), inverse, object)) }
                } else if !inverse.isToMany, let end = registeredObject(for: identifier), end.hasChanged(inverse),
                    end.toOne(inverse) !== object
                {
                    object.leave(relationship, end)
                }
            }
        }
        guard !left.isEmpty || !met.isEmpty else { return }
        readTogether((left + met).map(\.end), again: rereadsEnds)
        for (end, inverse, object) in left where !end.isDeleted { end.leave(inverse, object) }
        // Ends that led here when they were read, and that others have changed, are not among the changes.
        for (end, inverse, object) in met where !end.isDeleted && !end.hasChanged(inverse) { end.meet(inverse, object) }
    }

    /// Reads the rows of several faults at once. If this fails, each is read when it is used, which reports the error.
    ///
    /// - Parameters:
    ///   - ends: the objects; those that are not faults keep their values.
    ///   - again: whether unchanged objects that are not faults are read, too.
    func readTogether(_ ends: [NSManagedObject], again: Bool = false) {
        // Objects whose values were only set to themselves are not written, and their rows may have others.
        var untouched: [NSManagedObject] = []
        if again {
            var seen: IdentitySet = []
            for end in ends where !end.isFault && !end.state.contains(.inserted) && seen.insert(end) {
                if !end.hasChanges {
                    end.becomeFault()
                    event.refreshed.append(end)
                } else if !end.isDeleted, !end.hasPersistentChanges {
                    untouched.append(end)
                }
            }
        }
        let faults = ends.filter { $0.isFault && !$0.state.contains(.valuesPending) }
        guard let found = try? read(Set((faults + untouched).map(\.identifier))) else { return }
        for row in found.rows.values { _ = object(for: row, asFault: true, refreshing: false, stamp: found.stamp) }
        for end in untouched {
            guard let row = found.rows[end.identifier], keeps(end) else { continue }
            end.adopt(row, keepingChanges: true)
            end.refreshToManys()
        }
    }
}

extension NSManagedObject {
    /// Whether a to-one relationship was changed here.
    final func hasChanged(_ relationship: RelationshipLayout) -> Bool {
        values.count == snapshot.count && values.indices.contains(relationship.slot)
            && values[relationship.slot] != snapshot[relationship.slot]
    }

    /// The objects whose loaded to-many relationships lost or got this object, since its row has other destinations.
    final func collectionsConcerned(byChangeFrom former: ContiguousArray<StoredValue>) -> [NSManagedObject] {
        guard former.count == snapshot.count, let context = storedContext else { return [] }
        var ends: [NSManagedObject] = []
        for relationship in layout.toOnes where former[relationship.slot] != snapshot[relationship.slot] {
            guard let inverse = relationship.inverse, inverse.isToMany else { continue }
            for case .identifier(let identifier) in [former[relationship.slot], snapshot[relationship.slot]] {
                guard let end = context.registeredObject(for: identifier),
                    end.toManyMembersIfAny(inverse)?.isLoaded ?? false
                else { continue }
                ends.append(end)
            }
        }
        return ends
    }

    /// Removes a destination from one end of a relationship: a change to save, and none to undo, since it follows from
    /// what others did.
    fileprivate final func leave(_ relationship: RelationshipLayout, _ destination: NSManagedObject) {
        if isFault { fireFault() }
        guard !isDeleted, let context = storedContext else { return }
        let change: () -> Void
        if relationship.isToMany {
            let members = toManyMembers(relationship)
            guard members.contains(destination) || !members.isLoaded else { return }
            change = { members.remove(destination) }
        } else {
            guard toOne(relationship) === destination else { return }
            change = { [self] in
                values[relationship.slot] = .null
                relations[relationship.index] = .unresolved
            }
        }
        follow(relationship, change, in: context)
    }

    /// Sets one end of a one-to-one relationship, as `leave` removes it; the destination that it had leaves.
    fileprivate final func meet(_ relationship: RelationshipLayout, _ destination: NSManagedObject) {
        if isFault { fireFault() }
        guard !isDeleted, let context = storedContext, let inverse = relationship.inverse else { return }
        let other = toOne(relationship)
        guard other !== destination else { return }
        if let other, !other.isDeleted { other.leave(inverse, self) }
        let change = { [self] in
            values[relationship.slot] = .identifier(destination.identifier)
            if !relations.isEmpty { relations[relationship.index] = .unresolved }
        }
        follow(relationship, change, in: context)
    }

    /// The registered destination of a to-one relationship, if its to-many inverse lacks this object.
    fileprivate final func destinationWithout(
        _ relationship: RelationshipLayout, _ inverse: RelationshipLayout
    ) -> NSManagedObject? {
        guard inverse.isToMany, case .identifier(let identifier) = values[relationship.slot],
            let end = storedContext?.registeredObject(for: identifier), !end.isFault, !end.isDeleted
        else { return nil }
        return end.toManyMembersIfAny(inverse)?.contains(self) ?? false ? nil : end
    }

    /// Adds a member that the stored rows do not have, because others removed it: it counts as added here.
    fileprivate final func regain(_ relationship: RelationshipLayout, _ member: NSManagedObject) {
        guard let context = storedContext else { return }
        follow(relationship, { toManyMembers(relationship).insert(member) }, in: context)
    }

    private final func follow(
        _ relationship: RelationshipLayout, _ change: () -> Void, in context: NSManagedObjectContext
    ) {
        if state.contains(.observed) {
            notifyingObservers(ofKeys: { $0 == relationship.name }, change)
        } else {
            change()
        }
        if !state.contains(.inserted) { state.insert(.updated) }
        context.changed.list(self)
        context.event.refreshed.append(self)
    }
}
