import StoreEngine

// Deletions that others made. A batch deletion only reports the deleted objects, which others would otherwise keep in
// their relationships.
extension NSManagedObjectContext {
    /// Removes objects whose deletion was merged from the relationships of others. The others' rows no longer refer to
    /// them, so this is not a change to save; only a relationship that was set to a deleted object here is changed to
    /// nil.
    func removeDeleted(
        _ gone: IdentitySet, fromRelationshipsOf objects: some Sequence<NSManagedObject>, source: any RowSource
    ) {
        let roots = Set(gone.map { ObjectIdentifier($0.layout.root) })
        let identifiers = Set(gone.map(\.identifier))
        var leading: [ObjectIdentifier: [RelationshipLayout]] = [:]
        var referring: [NSManagedObject] = []
        var touched: [NSManagedObject] = []
        for object in objects where !object.state.contains(.fault) && !gone.contains(object) {
            let layout = ObjectIdentifier(object.layout)
            let relationships =
                leading[layout]
                ?? object.layout.relationships.filter { roots.contains(ObjectIdentifier($0.destination.root)) }
            leading[layout] = relationships
            if relationships.isEmpty { continue }
            if relationships.contains(where: { object.refers($0, toOneOf: identifiers) }) { referring.append(object) }
            if object.forgetMembers(gone, of: relationships) { touched.append(object) }
        }
        take(referring.filter { !$0.state.contains(.inserted) }, from: source)
        for object in referring where keeps(object) {
            for relationship in leading[ObjectIdentifier(object.layout)] ?? []
            where object.refers(relationship, toOneOf: identifiers) {
                object.forgetDestination(of: relationship)
            }
        }
        let kept = (touched + referring).filter(keeps)
        event.refreshed += IdentitySet(kept).subtracting(IdentitySet(event.refreshed))
    }

    /// Leaves out objects that exist again: a save after the merged deletion, which may be this context's own, inserted
    /// them again, or the next one will.
    ///
    /// Objects that another save has changed or deleted since this context read or saved them are not read again.
    func excludeRestored(among removed: inout [NSManagedObject], from source: any RowSource) {
        removed.removeAll { $0.state.contains(.inserted) }
        let unsure = removed.filter { object in
            !object.isGone
                && (object.state.contains(.inBatch) || source.isCurrent(object.identity, since: object.stamp)
                    || parent?.table.contains(object.identity) == true)
        }
        guard !unsure.isEmpty else { return }
        let there: Set<NSManagedObjectID>
        do {
            let rows = try source.rows(for: unsure.map(\.identifier))
            there = Set(rows.map(\.objectID))
            take(rows)
        } catch {
            report("a merged deletion cannot be compared with the store", error)
            there = Set(unsure.map(\.identifier))
        }
        guard !there.isEmpty else { return }
        for object in unsure where object.isFault && there.contains(object.identifier) { object.dropPendingValues() }
        removed.removeAll { !$0.isGone && there.contains($0.identifier) }
    }

    /// Counts an object whose row was deleted elsewhere as deleted: the next save writes nothing for it, and forgets
    /// it.
    ///
    /// The context that deleted it has followed its delete rules.
    func noteDeletionElsewhere(of object: NSManagedObject) {
        changed.list(object)
        object.state.remove([.updated, .watched])
        object.state.remove(.anyEvent)
        object.state.insert([.deleted, .deletePropagated, .inaccessible])
    }

    /// Makes faults of objects that count as deleted elsewhere, and that were inserted again.
    ///
    /// - Returns: those that the source has.
    func bringBack(_ gone: [NSManagedObject], from source: any RowSource) -> [NSManagedObject] {
        guard !gone.isEmpty, let rows = try? source.rows(for: gone.map(\.identifier)) else { return [] }
        return rows.compactMap { row in
            guard let object = table.object(for: row.objectID), object.isGone else { return nil }
            withdraw(object)
            object.state.remove([.inaccessible, .lost])
            object.becomeFault()
            return object
        }
    }
}

extension NSManagedObject {
    /// Whether a to-one relationship refers to one of some objects; a fault shows no value.
    final func refers(_ relationship: RelationshipLayout, toOneOf identifiers: Set<NSManagedObjectID>) -> Bool {
        guard !relationship.isToMany, values.indices.contains(relationship.slot),
            case .identifier(let identifier) = values[relationship.slot]
        else { return false }
        return identifiers.contains(identifier)
    }

    final func forgetDestination(of relationship: RelationshipLayout) {
        takeValue(.null, of: relationship)
    }

    /// Sets one end of a to-one relationship only, and its committed value unless it was changed here.
    final func takeValue(_ value: StoredValue, of relationship: RelationshipLayout) {
        let slot = relationship.slot
        let change = { [self] in
            if snapshot.indices.contains(slot), snapshot[slot] == values[slot] { snapshot[slot] = value }
            values[slot] = value
            if !relations.isEmpty { relations[relationship.index] = .unresolved }
        }
        guard state.contains(.observed) else { return change() }
        notifyingObservers(ofKeys: { $0 == relationship.name }, change)
    }

    /// - Returns: whether one of the objects was among the members of a relationship.
    fileprivate final func forgetMembers(_ gone: IdentitySet, of relationships: [RelationshipLayout]) -> Bool {
        let concerned = relationships.filter { relationship in
            relationship.isToMany && toManyMembersIfAny(relationship)?.all.contains(where: gone.contains) ?? false
        }
        guard !concerned.isEmpty else { return false }
        let change = { [self] in
            for relationship in concerned { toManyMembersIfAny(relationship)?.forget(gone) }
        }
        guard state.contains(.observed) else {
            change()
            return true
        }
        let names = Set(concerned.map(\.name))
        notifyingObservers(ofKeys: names.contains, change)
        return true
    }
}
