import Foundation
import StoreEngine

// Conflicts of a save, and what their resolution means for the relationships of others.
extension NSManagedObjectContext {
    /// Lets the merge policy resolve the conflicts of a refused save.
    func resolve(_ refusal: SaveRefusal) throws {
        let policy = mergePolicy as? NSMergePolicy ?? NSMergePolicy.error
        switch refusal {
        case .optimisticLocking(let conflicts):
            let found = conflicts.compactMap { conflict in
                table.object(for: conflict.objectID).map { object in
                    let isUnchanged = source?.isCurrent(object.identity, since: object.stamp) ?? false
                    return NSMergeConflict(object, current: conflict.current, isInternal: !isUnchanged)
                }
            }
            let taken = found.map { conflict in conflict.current.map(conflict.sourceObject.destinationsToTake) ?? [] }
            let takers = found.filter { $0.current != nil }.map { RowTaker($0.sourceObject) }
            let former = relationshipSnapshots(found)
            let rows = try read(newDestinations(found).union(former.flatMap(\.identifiers)))
            try policy.resolve(mergeConflicts: found)
            removeDeletedFromRelationships(found)
            try removeLostDestinations(found, rows)
            restoreRelationships(former, rows)
            var deleted: [NSManagedObject] = []
            for (conflict, relationships) in zip(found, taken) {
                let object = conflict.sourceObject
                guard object.managedObjectContext === self, let row = conflict.current else { continue }
                if object.isDeleted {
                    for relationship in relationships { object.takeDestination(of: relationship, from: row) }
                    deleted.append(object)
                } else {
                    object.removeDeletedDestinations()
                }
            }
            renewRelationships(of: deleted)
            settleKeptDestinations(of: takers, rereadsEnds: true)
        case .constraints(let violations):
            var index = UniqueValueIndex(changed.objects)
            try policy.resolve(mergeConflicts: violations.map { conflict(for: $0, among: &index) })
        }
    }

    /// Removes objects that the policy left deleted from the relationships of others, whose rows would refer to
    /// nothing.
    private func removeDeletedFromRelationships(_ conflicts: [NSMergeConflict]) {
        let lost = conflicts.lazy.filter { $0.newVersionNumber == 0 }.map(\.sourceObject)
        let gone = IdentitySet(lost.filter { $0.managedObjectContext == nil })
        guard !gone.isEmpty, let source else { return }
        removeDeleted(gone, fromRelationshipsOf: table.all, source: source)
    }

    /// Reads the rows of destinations. `resolve` reads before the policy changes anything: if reading fails, the next
    /// save finds the same conflicts.
    func read(_ destinations: Set<NSManagedObjectID>) throws -> DestinationRows {
        guard !destinations.isEmpty, let source else { return DestinationRows() }
        let stamp = source.generation
        let rows = try source.rows(for: Array(destinations))
        return DestinationRows(
            requested: destinations,
            rows: Dictionary(rows.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first }), stamp: stamp)
    }

    /// The destinations of changed objects that their stored rows do not refer to.
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

    /// Removes objects that others have deleted from the relationships of changed objects, unless this save writes
    /// them: otherwise a row would contain a key without a row.
    private func removeLostDestinations(_ conflicts: [NSMergeConflict], _ read: DestinationRows) throws {
        var lost = newDestinations(conflicts).filter {
            read.rows[$0] == nil && table.object(for: $0)?.isSupposedStored ?? true
        }
        // A policy of the program's own may have set others.
        lost.subtract(try self.read(lost.subtracting(read.requested)).rows.keys)
        markDeletedElsewhere(lost.map { objectOrFault($0) })
    }

    /// Marks objects that have no row any more as deleted, and removes them from the relationships of others.
    func markDeletedElsewhere(_ lost: [NSManagedObject]) {
        guard !lost.isEmpty, let source else { return }
        for object in lost { noteDeletionElsewhere(of: object) }
        event.removed += lost
        removeDeleted(IdentitySet(lost), fromRelationshipsOf: table.all, source: source)
    }

    /// The relationships of objects that the policy may insert again, or did before a save that failed. A child context
    /// has none: its parent connects them (`ChildSave`).
    private func relationshipSnapshots(_ conflicts: [NSMergeConflict]) -> [RelationshipSnapshot] {
        guard parent == nil else { return [] }
        let lost = conflicts.filter { $0.current == nil }.map(\.sourceObject)
        let back = changed.objects.filter { $0.state.contains(.inserted) && $0.version > 0 }
        return (lost + back).filter { !$0.isDeleted && !$0.isFault }.map(RelationshipSnapshot.init)
    }

    /// Restores the relationships of objects that are inserted again, from both ends: the deletion of their rows
    /// removed them from the relationships of others. A destination that was deleted or belongs to another object now
    /// is left out.
    private func restoreRelationships(_ former: [RelationshipSnapshot], _ read: DestinationRows) {
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
            } else if read.requested.contains(end.identifier) {
                lost.append(end)
            }
        }
        markDeletedElsewhere(lost)
        for former in back { former.object.connectInverses() }
        event.refreshed += ends
    }

    /// Makes objects with new values read their to-many relationships again. Deleted ones follow their delete rules
    /// again, for objects that others have connected since.
    func renewRelationships(of objects: [NSManagedObject]) {
        for object in objects { object.refreshToManys() }
        let deleted = objects.filter { $0.isDeleted && !$0.isGone && keeps($0) }
        if !deleted.isEmpty { followDeleteRulesAgain(of: deleted) }
    }

    private func followDeleteRulesAgain(of objects: [NSManagedObject]) {
        for object in objects { object.state.remove(.deletePropagated) }
        scheduleProcessing()
        deletions.unpropagated += objects
        loadDestinations(ofDeleted: objects[...])
        takeOutdatedDestinations(of: objects)
    }

    /// Gives objects at the ends of deleted ones' relationships the stored values if they lead to others: they were
    /// read before somebody else connected them, and no row may keep the key of a deleted one.
    func takeOutdatedDestinations(of objects: some Sequence<NSManagedObject>) {
        let outdated = objects.flatMap(\.destinationsWithAnotherInverse).filter { $0.isSupposedStored && !$0.isFault }
        if !outdated.isEmpty, let source { take(outdated, from: source) }
    }
}

extension NSManagedObject {
    /// The to-one relationships whose destinations a deleted object has to take from a row, so that it follows its
    /// delete rules for what others have connected it with: those that were not changed here, or that others changed.
    final func destinationsToTake(from row: Row) -> [RelationshipLayout] {
        guard values.count == snapshot.count, !values.isEmpty else { return [] }
        return layout.toOnes.filter { relationship in
            let former = snapshot[relationship.slot]
            return values[relationship.slot] == former || row.values[relationship.slot] != former
        }
    }

    /// Whether a save would write nothing of the object. One whose values were set to what they were is updated, too.
    fileprivate final var isSupposedStored: Bool {
        !hasChanges || state.isDisjoint(with: [.inserted, .deleted]) && !hasPersistentChanges
    }

    /// The destinations whose to-one inverse is not this object.
    fileprivate final var destinationsWithAnotherInverse: [NSManagedObject] {
        layout.relationships.flatMap { relationship -> [NSManagedObject] in
            guard let inverse = relationship.inverse, !inverse.isToMany else { return [] }
            let ends = relationship.isToMany ? toManyObjects(relationship) : toOne(relationship).map { [$0] } ?? []
            return ends.filter { !$0.isFault && $0.toOne(inverse) !== self }
        }
    }

    /// A row may refer to an object that was deleted here before the row's values were taken.
    fileprivate final func removeDeletedDestinations() {
        for relationship in layout.toOnes where toOne(relationship)?.isDeleted ?? false {
            setToOne(relationship, to: nil)
        }
    }

    final func takeDestination(of relationship: RelationshipLayout, from row: Row) {
        values[relationship.slot] = row.values[relationship.slot]
        if !relations.isEmpty { relations[relationship.index] = .unresolved }
    }
}

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

extension CocoaError {
    /// The conflicts of a save: the value of `NSPersistentStoreSaveConflictsErrorKey`.
    public var persistentStoreSaveConflicts: [NSMergeConflict]? {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    }
}
