import StoreSession

// Many-to-many relationships, and lists of references. Their members are compared with the pairs in the store, with
// one query for all models of an entity. A model that is added to one, or removed from it, counts as changed, as at
// the end of a to-one relationship.
extension DirectSave {
    /// Compares the relationships of all models, which have been looked up, with the store.
    func comparePairs() throws {
        for (table, plan) in plans.enumerated() {
            guard let plan, !plan.manys.isEmpty else { continue }
            let nodes = graph.nodes.indices.filter { graph.nodes[$0].table == table && graph.nodes[$0].row >= 0 }
            for many in plan.manys where !secondSides.contains(ObjectIdentifier(many.relationship)) {
                try comparePairs(of: nodes, many)
            }
        }
    }

    /// The later one of each two relationships that are each other's inverse.
    static func secondSides(of plans: [DirectPlan?]) -> Set<ObjectIdentifier> {
        var (first, second): (Set<ObjectIdentifier>, Set<ObjectIdentifier>) = ([], [])
        for many in plans.compactMap({ $0 }).flatMap(\.manys) {
            if first.contains(ObjectIdentifier(many.inverse)) {
                second.insert(ObjectIdentifier(many.relationship))
            } else {
                first.insert(ObjectIdentifier(many.relationship))
            }
        }
        return second
    }

    /// Checks that models at the second side say the same as those at the first one. If they contradict each other,
    /// the last one to say it counts; that is left to `GraphSave`.
    func checkSecondSides() throws {
        guard !secondSides.isEmpty else { return }
        for (table, plan) in plans.enumerated() {
            let nodes = graph.nodes.indices.filter { graph.nodes[$0].table == table && graph.nodes[$0].row >= 0 }
            for many in plan?.manys ?? [] where secondSides.contains(ObjectIdentifier(many.relationship)) {
                try checkSecondSide(of: nodes, many)
            }
        }
    }

    private func checkSecondSide(of nodes: [Int], _ many: DirectPlan.Many) throws {
        let stored = try rows.keys(
            atEndOf: many.relationship, for: nodes.compactMap { keys[$0] == nil ? nil : identifier($0) })
        var place = 0
        for node in nodes {
            var members: [Member] = []
            let change = references.change(at: node, many.relationship)
            if keys[node] != nil {
                let removed = Set((change?.removed ?? []).compactMap { keys[$0] })
                members = stored[place].filter { !removed.contains($0) }.map(Member.row)
                place += 1
            }
            members += (change?.added ?? []).map(member)
            let targets = graph.targets(of: node, many.field)
            let told = targets.map(member)
            if told == members { continue }
            guard told.count == members.count, Set(told) == Set(members) else { throw NotDirect() }
            if many.relationship.isOrdered { references.order(node, by: targets, many.relationship) }
        }
    }

    /// A row, or a node that has no row yet.
    private enum Member: Hashable {
        case row(Int64)
        case node(Int)
    }

    private func member(_ node: Int) -> Member { keys[node].map(Member.row) ?? .node(node) }

    private func comparePairs(of nodes: [Int], _ many: DirectPlan.Many) throws {
        let stored = try rows.keys(
            atEndOf: many.relationship, for: nodes.compactMap { keys[$0] == nil ? nil : identifier($0) })
        // In the order of the nodes, in which they are added to an ordered inverse relationship.
        var added: [Int: [Int]] = [:]
        var place = 0
        for node in nodes {
            let targets = graph.targets(of: node, many.field)
            guard keys[node] != nil else {
                for target in targets { added[target, default: []].append(node) }
                continue
            }
            let former = stored[place]
            place += 1
            guard let change = change(from: former, to: targets, many.relationship) else { continue }
            memberChanges[node, default: []].append(change)
            for target in change.added { added[target, default: []].append(node) }
            for target in change.removed {
                references.remove(node, from: target.key, of: many.destination.layout, many.inverse)
            }
        }
        for (target, sources) in added { references.add(sources, to: target, many.inverse) }
    }

    /// The differences; nil for none.
    private func change(
        from former: ContiguousArray<Int64>.SubSequence, to targets: [Int], _ relationship: RelationshipLayout
    ) -> MemberChange? {
        if former.count == targets.count, zip(former, targets).allSatisfy({ $0 == keys[$1] }) { return nil }
        let (present, wanted) = (Set(former), Set(targets.compactMap { keys[$0] }))
        let added = targets.filter { keys[$0].map { !present.contains($0) } ?? true }
        let removed = former.filter { !wanted.contains($0) }.sorted().map {
            NSManagedObjectID(layout: relationship.destination, store: store.identity, key: $0)
        }
        guard relationship.isOrdered || !added.isEmpty || !removed.isEmpty else { return nil }
        return MemberChange(
            relationship: relationship, added: added, removed: removed, targets: targets)
    }
}
