import StoreEngine

// Conflicts of a save, and what their resolution means for the relationships of others.
extension NSManagedObjectContext {
    /// Has the merge policy resolve the conflicts of a refused save.
    func resolve(_ refusal: SaveRefusal) throws {
        let policy = mergePolicy as? NSMergePolicy ?? NSMergePolicy.error
        switch refusal {
        case .optimisticLocking(let conflicts):
            let found = conflicts.compactMap { conflict in
                table.object(for: conflict.objectID).map { object in
                    let isUnchanged = source?.isCurrent(object.place, since: object.stamp) ?? false
                    return NSMergeConflict(object, current: conflict.current, isInternal: !isUnchanged)
                }
            }
            let unchanged = found.map { $0.sourceObject.unchangedToOnes }
            try policy.resolve(mergeConflicts: found)
            takeOutLost(found)
            try leaveLostDestinations(found)
            if parent == nil { try rejoin(found.filter { $0.current == nil }.map(\.sourceObject)) }
            var deleted: [NSManagedObject] = []
            for (conflict, relationships) in zip(found, unchanged) {
                let object = conflict.sourceObject
                guard object.managedObjectContext === self, let row = conflict.current else { continue }
                if object.isDeleted {
                    for relationship in relationships { object.takeDestination(of: relationship, from: row) }
                    deleted.append(object)
                } else {
                    object.leaveDeletedDestinations()
                }
            }
            renewRelationships(of: deleted)
        case .constraints(let violations):
            var index = UniqueValueIndex(changed)
            try policy.resolve(mergeConflicts: violations.map { conflict(for: $0, among: &index) })
        }
    }

    /// Removes objects that the policy left deleted from the relationships of others, whose rows would refer to nothing.
    private func takeOutLost(_ conflicts: [NSMergeConflict]) {
        let lost = conflicts.lazy.filter { $0.newVersionNumber == 0 }.map(\.sourceObject)
        let gone = IdentitySet(lost.filter { $0.managedObjectContext == nil })
        guard !gone.isEmpty, let source else { return }
        takeOut(gone, ofRelationshipsOf: table.all, from: source)
    }

    /// Finds out whether others deleted the objects to which changed objects will lead, where that is not what their
    /// rows say and this save does not write these objects: nothing else would find a key of no row.
    private func leaveLostDestinations(_ conflicts: [NSMergeConflict]) throws {
        var unsure: Set<NSManagedObjectID> = []
        for conflict in conflicts where conflict.sourceObject.isUpdated {
            guard let row = conflict.current else { continue }
            for relationship in conflict.sourceObject.layout.toOnes where !relationship.isTransient {
                let value = conflict.sourceObject.values[relationship.slot]
                guard case .identifier(let identifier) = value, value != row.values[relationship.slot],
                    !identifier.isTemporaryID, table.object(for: identifier)?.hasChanges != true
                else { continue }
                unsure.insert(identifier)
            }
        }
        guard !unsure.isEmpty, let source else { return }
        unsure.subtract(try source.rows(for: Array(unsure)).map(\.objectID))
        guard !unsure.isEmpty else { return }
        let lost = unsure.map { objectOrFault($0) }
        for object in lost { noteDeletionElsewhere(of: object) }
        vanished += lost
        takeOut(IdentitySet(lost), ofRelationshipsOf: table.all, from: source)
    }

    /// Has objects that are inserted again lead to what they led to, and back, where it is still there and free: who
    /// deleted their rows took them out of the relationships of others. A child's parent does so itself.
    private func rejoin(_ lost: [NSManagedObject]) throws {
        let objects = lost.filter { $0.storedContext === self && $0.state.contains(.inserted) }
        guard !objects.isEmpty, let source else { return }
        for object in objects {
            for relationship in object.layout.toManys { object.toManyMembersIfAny(relationship)?.becomeNew() }
        }
        let ends = IdentitySet(
            objects.flatMap { object in object.layout.relationships.flatMap(object.destinationsInOrder) }
        ).filter { !$0.hasChanges && $0.storedContext === self }
        for end in ends { end.becomeFault() }
        let stamp = source.generation
        for row in try source.rows(for: ends.map(\.identifier)) {
            _ = object(for: row, asFault: true, refreshing: false, stamp: stamp)
        }
        for object in objects { object.connectOtherEnds() }
        refreshed += ends
    }

    /// Has objects that took values of others read their to-many relationships again. Deleted ones follow their delete
    /// rules for what others have made them lead to meanwhile.
    func renewRelationships(of objects: [NSManagedObject]) {
        for object in objects { object.refreshToManys() }
        let deleted = objects.filter { $0.isDeleted && !$0.isGone }
        if !deleted.isEmpty { followDeleteRulesAgain(of: deleted) }
    }

    private func followDeleteRulesAgain(of objects: [NSManagedObject]) {
        for object in objects { object.state.remove(.deletePropagated) }
        scheduleProcessing()
        doomed += objects
        loadDestinations(ofDeleted: objects[...])
        // Destinations that were read before do not know that they lead here.
        let stale = objects.flatMap(\.destinationsLeadingElsewhere).filter { !$0.hasChanges && !$0.isFault }
        if !stale.isEmpty, let source { take(stale, from: source) }
    }
}

extension NSManagedObject {
    fileprivate final var unchangedToOnes: [RelationshipLayout] {
        guard values.count == snapshot.count else { return [] }
        return layout.toOnes.filter { values[$0.slot] == snapshot[$0.slot] }
    }

    /// The destinations whose to-one end does not lead to this object.
    fileprivate final var destinationsLeadingElsewhere: [NSManagedObject] {
        layout.relationships.flatMap { relationship -> [NSManagedObject] in
            guard let inverse = relationship.inverse, !inverse.isToMany else { return [] }
            let ends = relationship.isToMany ? toManyObjects(relationship) : toOne(relationship).map { [$0] } ?? []
            return ends.filter { !$0.isFault && $0.toOne(inverse) !== self }
        }
    }

    /// A row may lead to an object that was deleted here before the row's values were taken.
    fileprivate final func leaveDeletedDestinations() {
        for relationship in layout.toOnes where toOne(relationship)?.isDeleted ?? false {
            setToOne(relationship, to: nil)
        }
    }

    fileprivate final func takeDestination(of relationship: RelationshipLayout, from row: Row) {
        values[relationship.slot] = row.values[relationship.slot]
        if !relations.isEmpty { relations[relationship.index] = .unresolved }
    }
}
