import StoreSession

// The differences become a change set.
extension DirectSave {
    /// The values of a row, taken from its model.
    private func values(_ node: Int, _ plan: DirectPlan) -> ContiguousArray<StoredValue> {
        // Attributes that the model does not have stay as they are.
        let difference = differing[node]
        let others = difference?.row.values ?? plan.layout.defaultValues
        let (given, first) = graph.values(holding: node)
        let hasNewOwner = owners[node] >= 0 && (keys[node] == nil || moved.contains(node))
        let owner = hasNewOwner ? identifier(owners[node]) : nil
        let ownerSlot = ownerSlots[node]
        var values = ContiguousArray<StoredValue>()
        values.reserveCapacity(others.count)
        for slot in plan.fields.indices {
            let field = plan.fields[slot]
            if field >= 0 {
                values.append(difference?.merged[slot] ?? given[first + field])
            } else if let owner, slot == ownerSlot {
                values.append(.identifier(owner))
            } else {
                values.append(others[slot])
            }
        }
        for toOne in plan.toOnes {
            let destination = graph.targets(of: node, toOne.field).first.flatMap(identifier)
            values[toOne.slot] = destination.map(StoredValue.identifier) ?? .null
        }
        if !plan.plan.stamps.isEmpty, keys[node] == nil {
            let now = Stamp.now
            for stamp in plan.plan.stamps {
                let own = stamp.kind == .created ? given[first + stamp.field] : .null
                values[plan.slots[stamp.field]] = own.isNull ? now : own
            }
        }
        return values
    }

    /// Sets the date of a stored row that changes, if its model has one.
    private func stamp(
        _ values: inout ContiguousArray<StoredValue>, _ slots: inout [Int], _ lists: [ToManyChange], _ plan: DirectPlan
    ) {
        guard !slots.isEmpty || lists.contains(where: { plan.has($0.relationship) }) else { return }
        for stamp in plan.plan.stamps where stamp.kind == .changed {
            let slot = plan.slots[stamp.field]
            values[slot] = Stamp.now
            slots = (slots + [slot]).sorted()
        }
    }

    /// Whether other changes of the block concern rows that this save was compared with, which it had not seen.
    ///
    /// Rows to which others lead meanwhile, and do not differ in more than that, are as they were to this save: the
    /// changes of both are joined.
    func meets(_ unsaved: UnsavedChanges) -> Bool {
        for node in graph.nodes.indices {
            guard let identifier = identifier(node), unsaved.contains(identifier) else { continue }
            guard let update = unsaved.update(of: identifier), update.changedSlots.isEmpty else { return true }
            let plan = plans[graph.nodes[node].table]
            let compared = (plan?.members.map(\.relationship) ?? []) + (plan?.manys.map(\.relationship) ?? [])
            let isReferred = update.toManyChanges.allSatisfy { list in
                !list.relationship.isOrdered && !compared.contains { $0 === list.relationship }
            }
            if !isReferred { return true }
        }
        if deleted.contains(where: { unsaved.contains($0.objectID) }) { return true }
        if freed.contains(where: { unsaved.contains($0.objectID) }) { return true }
        return departed?.meets(unsaved) ?? false || formerDestinationsMeet(unsaved)
    }

    /// The change set; nil if nothing differs.
    func changeSet(_ unsaved: UnsavedChanges) throws -> ChangeSet? {
        let new = graph.nodes.indices.filter { keys[$0] == nil }
        let known = Set(differing.keys).union(memberChanges.keys.filter { keys[$0] != nil })
            .union(references.changed.filter { keys[$0] != nil }).union(departedLists.keys).sorted()
        guard !new.isEmpty || !known.isEmpty || !deleted.isEmpty || departed != nil else { return nil }
        let layouts = new.compactMap { plans[graph.nodes[$0].table]?.layout }
        let made = try unsaved.makeIdentifiers(for: layouts)
        for (node, identifier) in zip(new, made.identifiers) { identifiers[node] = identifier }
        var changes = ChangeSet()
        changes.promises = made.promises
        changes.deleted = deleted + (departed?.deletions ?? [])
        changes.inserted.reserveCapacity(new.count)
        for node in new {
            guard let plan = plans[graph.nodes[node].table], let identifier = identifier(node) else { continue }
            changes.inserted.append(
                RowChange(
                    objectID: identifier, version: 0, values: values(node, plan), changedSlots: [],
                    toManyChanges: toManyChanges(node)))
        }
        let stored = try rowsOfOwners(known)
        for node in known {
            guard let plan = plans[graph.nodes[node].table], let row = differing[node]?.row ?? stored[node] else {
                throw NotDirect()
            }
            var given = differing[node] == nil ? row.values : values(node, plan)
            var slots = differing[node]?.slots ?? []
            let lists = toManyChanges(node)
            if !plan.plan.stamps.isEmpty { stamp(&given, &slots, lists, plan) }
            changes.updated.append(
                RowChange(
                    objectID: row.objectID, version: row.version, values: given, changedSlots: slots,
                    toManyChanges: lists))
        }
        changes.updated += try changesOfFormerDestinations()
        if departed != nil || !freed.isEmpty { try addOthers(to: &changes) }
        return changes
    }

    /// Adds the rows that lose what is deleted, and those that lose their owner.
    private func addOthers(to changes: inout ChangeSet) throws {
        let present = Set(graph.nodes.indices.compactMap(identifier))
        changes.updated += freed
        if let departed { changes.updated += try departed.changes { present.contains($0) } }
        // One of these rows may have lost something else, too.
        var seen: Set<NSManagedObjectID> = []
        guard changes.updated.allSatisfy({ seen.insert($0.objectID).inserted }) else { throw NotDirect() }
    }

    /// The rows of models of which only the members change.
    private func rowsOfOwners(_ known: [Int]) throws -> [Int: Row] {
        var found: [Int: Row] = [:]
        let groups = Dictionary(grouping: known.filter { differing[$0] == nil }) { graph.nodes[$0].plan.id }
        for nodes in groups.values {
            let plan = graph.nodes[nodes[0]].plan
            try rows.forEachRow(of: plan, for: nodes.compactMap(identifier)) { place, row in
                found[nodes[place]] = try row.whole()
            }
        }
        return found
    }

    private func toManyChanges(_ node: Int) -> [ToManyChange] {
        var all = references.isEmpty ? [] : referenceChanges(node)
        all += departedLists[node] ?? []
        for change in memberChanges[node] ?? [] {
            all.append(toManyChange(change.relationship, change.added, change.removed, change.targets))
        }
        if keys[node] == nil {
            for many in plans[graph.nodes[node].table]?.manys ?? []
            where !secondSides.contains(ObjectIdentifier(many.relationship)) {
                let targets = graph.targets(of: node, many.field)
                if !targets.isEmpty { all.append(toManyChange(many.relationship, targets, [], targets)) }
            }
        }
        // The same order as when objects are saved.
        if all.count > 1 { all = all.sorted { $0.relationship.index < $1.relationship.index } }
        return all
    }

    private func toManyChange(
        _ relationship: RelationshipLayout, _ added: [Int], _ removed: [NSManagedObjectID], _ targets: [Int]
    ) -> ToManyChange {
        ToManyChange(
            relationship: relationship, added: inOrder(added), removed: removed,
            order: relationship.isOrdered ? targets.compactMap(identifier) : nil, pairs: .thisEnd)
    }

    /// The object IDs of nodes in the order of their keys.
    func inOrder(_ nodes: [Int]) -> [NSManagedObjectID] {
        nodes.compactMap(identifier).sorted { $0.key < $1.key }
    }
}
