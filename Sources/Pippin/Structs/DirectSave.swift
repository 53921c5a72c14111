import StoreSession

/// A save of models that goes to the store as rows: the stored models are looked up in sets and compared, and the
/// differences become a change set.
///
/// It handles the usual cases. Everything else (models of their own type, sides that contradict each other) is left to
/// `GraphSave`, which has the same outcome.
final class DirectSave: RowSave {
    let graph: ModelGraph
    /// By the number of the entity in the graph.
    let plans: [DirectPlan?]
    let rows: StoreRows
    let store: SessionStore
    // Only one thread at a time uses a save, so checking its accesses for overlaps would find nothing.
    /// The primary keys by node; nil for a model that is new.
    @exclusivity(unchecked) private(set) var keys: ContiguousArray<Int64?>
    /// By node; only for those that were asked for.
    @exclusivity(unchecked) var identifiers: ContiguousArray<NSManagedObjectID?>
    /// The rows that differ from their models, by node.
    @exclusivity(unchecked) var differing: [Int: Difference] = [:]
    /// The node of the model that owns each node; -1 for none.
    @exclusivity(unchecked) var owners: ContiguousArray<Int>
    @exclusivity(unchecked) var ownerSlots: ContiguousArray<Int>
    /// The changes in the relationships of models, in their order.
    @exclusivity(unchecked) var memberChanges: [Int: [MemberChange]] = [:]
    @exclusivity(unchecked) var deleted: [RowDeletion] = []
    /// The rows of what is deleted with others.
    @exclusivity(unchecked) private(set) var departed: DeletedRows?
    /// The relationships of nodes that led to these.
    @exclusivity(unchecked) private(set) var departedLists: [Int: [ToManyChange]] = [:]
    /// The rows that leave a relationship and stay.
    @exclusivity(unchecked) private(set) var freed: [RowChange] = []
    /// The members that were in another model before.
    @exclusivity(unchecked) private(set) var moved: Set<Int> = []
    @exclusivity(unchecked) private var leaving: [NSManagedObjectID] = []
    @exclusivity(unchecked) var references: References
    /// The many-to-many relationships whose inverse is a model's property as well, and was compared.
    let secondSides: Set<ObjectIdentifier>

    /// How a row differs from its model.
    struct Difference {
        let row: Row
        /// The slots whose values change.
        var slots: [Int] = []
        /// The values that are other ones than the model's, by slot: what the model's type does not know of the stored
        /// value stays in them.
        var merged: [Int: StoredValue] = [:]
    }

    struct MemberChange {
        let relationship: RelationshipLayout
        /// Nodes.
        let added: [Int]
        let removed: [NSManagedObjectID]
        /// The nodes of all members.
        let targets: [Int]
    }

    /// Thrown to leave the save to `GraphSave`.
    struct NotDirect: Error {}

    /// Looks the models up.
    ///
    /// - Parameters:
    ///   - graph: the models.
    ///   - plan: how their rows are saved.
    ///   - rows: the store's rows, in the transaction's state.
    ///   - store: the store.
    ///   - replacesAll: whether all other models of the type are deleted.
    /// - Throws: `NotDirect`, and what reading throws.
    init(
        _ graph: ModelGraph, _ plan: DirectPlan, _ rows: StoreRows, _ store: SessionStore, replacesAll: Bool = false
    ) throws {
        self.graph = graph
        (self.rows, self.store) = (rows, store)
        plans = try Self.plans(of: plan, by: graph)
        secondSides = Self.secondSides(of: plans)
        references = References(count: graph.nodes.count, roots: graph.rootCount)
        keys = ContiguousArray(repeating: nil, count: graph.nodes.count)
        identifiers = ContiguousArray(repeating: nil, count: graph.nodes.count)
        owners = ContiguousArray(repeating: -1, count: graph.nodes.count)
        ownerSlots = owners
        let roots = Array(0..<graph.rootCount)
        try findDestinations(of: roots, plan)
        try find(roots, plan)
        try descend(from: roots, plan)
        try comparePairs()
        try noteReferencesOfNewModels()
        try checkSecondSides()
        if replacesAll {
            let kept = Set(roots.compactMap { keys[$0] })
            leaving += try rows.identifiers(of: plan.plan, RecordSelection()).filter { !kept.contains($0.key) }
        }
        try noteDeparted()
    }

    /// Finds out what is deleted with the rows that leave.
    private func noteDeparted() throws {
        guard !leaving.isEmpty else { return }
        var rows = DeletedRows(rows)
        try rows.add(leaving)
        for node in graph.nodes.indices {
            guard let identifier = identifier(node) else { continue }
            // Models that stay would have to leave their owners first.
            guard !rows.contains(identifier) else { throw NotDirect() }
            let known = memberChanges[node] ?? []
            let lists = try rows.lists(of: identifier).filter { list in
                !known.contains { $0.relationship === list.relationship }
            }
            guard lists.allSatisfy({ references.change(at: node, $0.relationship) == nil }) else { throw NotDirect() }
            if !lists.isEmpty { departedLists[node] = lists }
        }
        departed = rows
    }

    /// The plans, by the number of the entity in the graph.
    private static func plans(of plan: DirectPlan, by graph: ModelGraph) throws -> [DirectPlan?] {
        var plans: [DirectPlan?] = Array(repeating: nil, count: graph.tableCount)
        var (owned, shared): (Set<ObjectIdentifier>, Set<ObjectIdentifier>) = ([], [])
        var queue = [(plan: plan, isShared: false, isReference: false)]
        while let (next, isShared, isReference) = queue.popLast() {
            let id = next.plan.id
            if isShared { shared.insert(id) } else if !owned.insert(id).inserted { throw NotDirect() }
            if let table = graph.tableNumber(of: next.plan), plans[table] == nil || !isReference {
                plans[table] = next
            }
            queue += next.members.map { ($0.destination, false, false) }
            queue += next.toOnes.map { ($0.destination, true, $0.isReference) }
            queue += next.manys.map { ($0.destination, true, $0.isReference) }
        }
        // Models that one model owns cannot be referred to by others. The given models can be.
        owned.remove(plan.plan.id)
        guard owned.isDisjoint(with: shared), plans.allSatisfy({ $0 != nil }) else { throw NotDirect() }
        return plans
    }

    /// Whether one of the given models was stored before.
    func isKnown(_ root: Int) -> Bool { keys[root] != nil }

    func isNew(_ node: Int) -> Bool { keys[node] == nil }

    /// The ID of a model's object; nil for a new model, until it gets one.
    func identifier(_ node: Int) -> NSManagedObjectID? {
        if let known = identifiers[node] { return known }
        guard let key = keys[node], let layout = plans[graph.nodes[node].table]?.layout else { return nil }
        let made = NSManagedObjectID(layout: layout, store: store.identity, key: key)
        identifiers[node] = made
        return made
    }

    /// What became of the given models.
    var outcomes: [SaveOutcome] {
        (0..<graph.rootCount).map { root in
            if keys[root] == nil { return .inserted }
            let isUpdated = differing[root] != nil || memberChanges[root] != nil || references.lead(to: root)
            return isUpdated ? .updated : .unchanged
        }
    }

    // MARK: What is there

    /// Finds models by their identifiers.
    func find(
        _ nodes: [Int], _ plan: DirectPlan, _ found: (_ node: Int, _ row: any CurrentRow) throws -> Void = { _, _ in }
    ) throws {
        // Many new models usually come into an empty table.
        if nodes.count > 100, try rows.isEmpty(plan.plan) { return }
        let field = plan.plan.uidField
        let identifiers = try nodes.map { node in
            guard let identifier = graph.storedIdentifier(node, plan.plan) else { throw NotDirect() }
            return identifier
        }
        try rows.forEachRow(of: plan.plan, where: plan.slots[field], isAmong: identifiers) { row in
            guard let node = graph.node(try key(of: row, plan), of: plan.plan), keys[node] == nil else {
                throw NotDirect()
            }
            try match(node, row, plan)
            try found(node, row)
        }
    }

    /// Finds the members that come from other models.
    private func findMoved(
        _ nodes: [Int], among owners: [Int], of plan: DirectPlan, _ member: DirectPlan.Member
    ) throws {
        let present = Set(owners.compactMap { keys[$0] })
        try find(nodes, member.destination) { node, row in
            moved.insert(node)
            var difference = try differing[node] ?? Difference(row: row.whole())
            difference.slots = (difference.slots + [member.ownerSlot]).sorted()
            differing[node] = difference
            guard let former = try row.destination(at: member.ownerSlot), !present.contains(former) else { return }
            references.remove(node, from: former, of: plan.layout, member.relationship)
        }
    }

    /// The identifier in a row.
    private func key(of row: any CurrentRow, _ plan: DirectPlan) throws -> RecordKey {
        let field = plan.plan.uidField
        let value = try row.value(at: plan.slots[field])
        guard let key = RecordKey(value) else { throw NotDirect() }
        return key
    }

    /// Compares a model with its row.
    ///
    /// - Parameters:
    ///   - node: the model.
    ///   - row: the row.
    ///   - plan: the model's entity.
    ///   - known: a field that is known to be the same; -1 for none.
    /// - Throws: `NotDirect`, and what reading the row throws.
    private func match(_ node: Int, _ row: any CurrentRow, _ plan: DirectPlan, known: Int = -1) throws {
        keys[node] = row.key
        if graph.nodes[node].row < 0 { return }
        var slots: [Int] = []
        var merged: [Int] = []
        let (values, first) = graph.values(holding: node)
        for (field, slot, composite, isMerged) in plan.comparisons where field != known {
            let isSame =
                if let composite { try holds(row, values[first + field].composite, composite, at: slot) } else {
                    try row.holds(values[first + field], at: slot)
                }
            if isSame { continue }
            if isMerged { merged.append(field) } else { slots.append(slot) }
        }
        for toOne in plan.toOnes where try !leads(node, toOne, to: row.destination(at: toOne.slot)) {
            slots.append(toOne.slot)
        }
        if slots.isEmpty, merged.isEmpty { return }
        var difference = Difference(row: try row.whole(), slots: slots)
        for field in merged {
            let (slot, new) = (plan.slots[field], values[first + field])
            let stored = difference.row.values[slot]
            let value = try plan.plan.merged(new, into: stored, field, of: graph.nodes[node].key.text)
            if value != new { difference.merged[slot] = value }
            if value != stored { difference.slots.append(slot) }
        }
        difference.slots.sort()
        if !difference.slots.isEmpty { differing[node] = difference }
    }

    /// Whether a row has a nested value.
    private func holds(
        _ row: any CurrentRow, _ new: CompositeValue?, _ composite: RecordPlan, at slot: Int
    ) throws -> Bool {
        var elements = ContiguousArray<StoredValue>()
        if try row.elements(at: slot, named: composite.names, into: &elements) {
            return composite.isSame(new, elements)
        }
        return composite.isSame(new, try row.value(at: slot).composite)
    }

    /// Compares the members of models, level by level.
    private func descend(from nodes: [Int], _ plan: DirectPlan) throws {
        for member in plan.members {
            let lists = nodes.map { graph.targets(of: $0, member.field) }
            for (node, targets) in zip(nodes, lists) {
                for target in targets {
                    guard owners[target] < 0 else { throw NotDirect() }
                    owners[target] = node
                    ownerSlots[target] = member.ownerSlot
                }
            }
            if !member.destination.toOnes.isEmpty || !member.destination.manys.isEmpty {
                try findDestinations(of: lists.flatMap { $0 }, member.destination)
            }
            let new = try compare(nodes, lists, plan, member)
            if !new.isEmpty { try findMoved(new, among: nodes, of: plan, member) }
            if !member.destination.members.isEmpty { try descend(from: lists.flatMap { $0 }, member.destination) }
        }
    }

    /// Compares a relationship of models with the store.
    ///
    /// - Returns: the members that the store's relationship does not have.
    private func compare(
        _ nodes: [Int], _ lists: [[Int]], _ plan: DirectPlan, _ member: DirectPlan.Member
    ) throws -> [Int] {
        let destination = member.destination
        let uidField = destination.plan.uidField
        let uidSlot = destination.slots[uidField]
        let known = nodes.indices.filter { keys[nodes[$0]] != nil }
        var found = ContiguousArray(repeating: 0, count: nodes.count)
        var isInOrder = ContiguousArray(repeating: true, count: nodes.count)
        var removed: [Int: [NSManagedObjectID]] = [:]
        try rows.forEachDestination(
            of: plan.plan.fields[member.field], of: plan.plan, for: known.compactMap { identifier(nodes[$0]) }
        ) { place, row in
            let place = known[place]
            let next = found[place]
            if next < lists[place].count, keys[lists[place][next]] == nil,
                try row.holds(graph.value(lists[place][next], uidField), at: uidSlot)
            {
                found[place] += 1
                return try match(lists[place][next], row, destination, known: uidField)
            }
            if let node = graph.node(try key(of: row, destination), of: destination.plan) {
                guard keys[node] == nil, ownerSlots[node] == member.ownerSlot else { throw NotDirect() }
                if owners[node] != nodes[place] {
                    removed[place, default: []].append(
                        NSManagedObjectID(layout: destination.layout, store: store.identity, key: row.key))
                    return
                }
                isInOrder[place] = false
                found[place] += 1
                return try match(node, row, destination)
            }
            let left = try row.whole()
            removed[place, default: []].append(left.objectID)
            if !member.isOwned {
                try freed.append(Self.freed(left, member.ownerSlot))
            } else if destination.isLeaf {
                deleted.append(RowDeletion(objectID: left.objectID, version: left.version))
            } else {
                leaving.append(left.objectID)
            }
        }
        var new: [Int] = []
        for place in nodes.indices
        where found[place] < lists[place].count || removed[place] != nil || !isInOrder[place] {
            let added = lists[place].filter { keys[$0] == nil }
            new += added
            guard !added.isEmpty || removed[place] != nil || member.relationship.isOrdered else { continue }
            memberChanges[nodes[place], default: []].append(
                MemberChange(
                    relationship: member.relationship, added: added,
                    removed: (removed[place] ?? []).sorted { $0.key < $1.key },
                    targets: lists[place]))
        }
        return new
    }

    /// A row that leaves its relationship, and stays.
    private static func freed(_ row: Row, _ slot: Int) throws -> RowChange {
        var values = row.values
        values[slot] = .null
        return RowChange(
            objectID: row.objectID, version: row.version, values: values, changedSlots: [slot], toManyChanges: [])
    }
}
