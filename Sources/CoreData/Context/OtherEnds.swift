import StoreEngine

// The other ends of relationships, where a merge policy replaces what they were set to here, or brings an object back.
extension NSManagedObject {
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
                if end.isFault, end.storedContext != nil { end.fireFault() }
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
