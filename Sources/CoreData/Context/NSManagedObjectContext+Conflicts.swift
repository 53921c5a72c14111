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
            let former = formerEnds(found)
            let ends = try read(newDestinations(found).union(former.flatMap(\.identifiers)))
            try policy.resolve(mergeConflicts: found)
            takeOutLost(found)
            try leaveLostDestinations(found, ends)
            rejoin(former, ends)
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

    /// What the store says of objects at the other ends of relationships. `resolve` asks before the policy changes
    /// anything: if that fails, the next save finds the same conflicts.
    func read(_ ends: Set<NSManagedObjectID>) throws -> ReadEnds {
        guard !ends.isEmpty, let source else { return ReadEnds() }
        let stamp = source.generation
        let rows = try source.rows(for: Array(ends))
        return ReadEnds(
            asked: ends, rows: Dictionary(rows.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first }),
            stamp: stamp)
    }

    /// Where changed objects will lead, if that is not what their rows say.
    private func newDestinations(_ conflicts: [NSMergeConflict]) -> Set<NSManagedObjectID> {
        var found: Set<NSManagedObjectID> = []
        for conflict in conflicts where conflict.sourceObject.isUpdated {
            guard let row = conflict.current else { continue }
            for relationship in conflict.sourceObject.layout.toOnes where !relationship.isTransient {
                let value = conflict.sourceObject.values[relationship.slot]
                guard case .identifier(let identifier) = value, value != row.values[relationship.slot],
                    !identifier.isTemporaryID
                else { continue }
                found.insert(identifier)
            }
        }
        return found
    }

    /// Takes objects out that others deleted and to which changed objects would lead, unless this save writes these
    /// objects: nothing else would find a key of no row.
    private func leaveLostDestinations(_ conflicts: [NSMergeConflict], _ ends: ReadEnds) throws {
        var lost = newDestinations(conflicts).filter {
            ends.rows[$0] == nil && table.object(for: $0)?.hasChanges != true
        }
        // A policy of the program's own may have set others.
        lost.subtract(try read(lost.subtracting(ends.asked)).rows.keys)
        leaveLost(lost.map { objectOrFault($0) })
    }

    /// Counts objects that have no row any more as deleted, and takes them out of the relationships of others.
    func leaveLost(_ lost: [NSManagedObject]) {
        guard !lost.isEmpty, let source else { return }
        for object in lost { noteDeletionElsewhere(of: object) }
        vanished += lost
        takeOut(IdentitySet(lost), ofRelationshipsOf: table.all, from: source)
    }

    /// What the objects lead to that a policy may insert again, or has before a save that failed. A child's parent has
    /// them lead there.
    private func formerEnds(_ conflicts: [NSMergeConflict]) -> [FormerEnds] {
        guard parent == nil else { return [] }
        let lost = conflicts.filter { $0.current == nil }.map(\.sourceObject)
        let back = changed.filter { $0.state.contains(.inserted) && $0.version > 0 }
        return (lost + back).filter { !$0.isDeleted && !$0.isFault }.map(FormerEnds.init)
    }

    /// Has objects that are inserted again lead to what they led to, and back, where it is still there and free: who
    /// deleted their rows took them out of the relationships of others.
    private func rejoin(_ former: [FormerEnds], _ read: ReadEnds) {
        let back = former.filter { former in
            former.object.storedContext === self && former.object.state.contains(.inserted) && !former.object.isDeleted
        }
        guard !back.isEmpty else { return }
        for former in back { former.restore() }
        let ends = IdentitySet(back.flatMap(\.object.allDestinations)).filter {
            !$0.hasChanges && $0.storedContext === self
        }
        var lost: [NSManagedObject] = []
        for end in ends {
            if let row = read.rows[end.identifier] {
                end.becomeFault()
                _ = object(for: row, asFault: true, refreshing: false, stamp: read.stamp)
            } else if read.asked.contains(end.identifier) {
                lost.append(end)
            }
        }
        leaveLost(lost)
        for former in back { former.object.connectOtherEnds() }
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
