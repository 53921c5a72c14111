#if !canImport(ObjectiveC)
    import CoreData

    /// A save of models that goes to the store as rows: what is known is looked up in sets and compared, and what differs becomes a
    /// change set.
    ///
    /// It takes the usual cases. Whatever it does not take (a member that comes from another model, a value that breaks a rule) is left to
    /// `GraphWriter`, whose outcome is the same.
    final class DirectSave {
        let graph: ModelGraph
        /// By the number of the entity in the graph.
        private let plans: [DirectPlan?]
        private let rows: StoreRows
        private let store: NSPersistentStore
        /// The primary keys by node; nil for a model that is new.
        private var keys: ContiguousArray<Int64?>
        /// By node, as far as they were asked for.
        private var identifiers: ContiguousArray<NSManagedObjectID?>
        /// The rows that differ from their models, by node.
        private var differing: [Int: (row: Row, slots: [Int])] = [:]
        /// The model that a model is in, by node; -1 for none.
        private var owners: ContiguousArray<Int>
        private var ownerSlots: ContiguousArray<Int>
        /// What changes in the relationships of models, in their order.
        private var memberChanges: [Int: [MemberChange]] = [:]
        private var deleted: [RowDeletion] = []

        struct MemberChange {
            let member: DirectPlan.Member
            /// Nodes.
            var added: [Int] = []
            var removed: [NSManagedObjectID] = []
            /// The nodes of all members.
            let targets: [Int]
        }

        /// Leaves the save to `GraphWriter`.
        struct NotDirect: Error {}

        /// Looks the models up.
        ///
        /// - Parameters:
        ///   - graph: the models.
        ///   - plan: how their rows are saved.
        ///   - rows: the store's rows as the transaction sees them.
        ///   - store: the store.
        /// - Throws: `NotDirect`, and what reading throws.
        init(_ graph: ModelGraph, _ plan: DirectPlan, _ rows: StoreRows, _ store: NSPersistentStore) throws {
            self.graph = graph
            (self.rows, self.store) = (rows, store)
            var plans: [DirectPlan?] = Array(repeating: nil, count: graph.tableCount)
            var seen: Set<ObjectIdentifier> = []
            var queue = [plan]
            while let next = queue.popLast() {
                guard seen.insert(next.plan.id).inserted else { throw NotDirect() }
                if let table = graph.tableNumber(of: next.plan) { plans[table] = next }
                queue += next.members.map(\.destination)
            }
            guard plans.allSatisfy({ $0 != nil }) else { throw NotDirect() }
            self.plans = plans
            keys = ContiguousArray(repeating: nil, count: graph.nodes.count)
            identifiers = ContiguousArray(repeating: nil, count: graph.nodes.count)
            owners = ContiguousArray(repeating: -1, count: graph.nodes.count)
            ownerSlots = owners
            let roots = Array(0..<graph.rootCount)
            try find(roots, plan)
            try descend(from: roots, plan)
            try checkValues()
        }

        /// Which of the models that the graph was made of were there.
        func isKnown(_ root: Int) -> Bool { keys[root] != nil }

        /// The ID of a model's object; nil for a model that is new, until it is given one.
        private func identifier(_ node: Int) -> NSManagedObjectID? {
            if let known = identifiers[node] { return known }
            guard let key = keys[node], let layout = plans[graph.nodes[node].table]?.layout else { return nil }
            let made = NSManagedObjectID(layout: layout, store: store.identity, key: key)
            identifiers[node] = made
            return made
        }

        /// What becomes of the models that the graph was made of.
        var counts: (inserted: Int, updated: Int, unchanged: Int) {
            var counts = (inserted: 0, updated: 0, unchanged: 0)
            for root in 0..<graph.rootCount {
                if keys[root] == nil {
                    counts.inserted += 1
                } else if differing[root] != nil || memberChanges[root] != nil {
                    counts.updated += 1
                } else {
                    counts.unchanged += 1
                }
            }
            return counts
        }

        // MARK: What is there

        /// Finds models by their identifiers.
        private func find(_ nodes: [Int], _ plan: DirectPlan) throws {
            // Many new ones usually come into an empty table.
            if nodes.count > 100, try rows.isEmpty(plan.plan) { return }
            let field = plan.plan.uidField
            try rows.forEachRow(
                of: plan.plan, where: plan.slots[field], isAmong: nodes.map { graph.value($0, field) }
            ) { row in
                guard let node = graph.node(try key(of: row, plan), of: plan.plan), keys[node] == nil else {
                    throw NotDirect()
                }
                try match(node, row, plan)
            }
        }

        /// The identifier in a row.
        private func key(of row: any CurrentRow, _ plan: DirectPlan) throws -> RecordKey {
            let field = plan.plan.uidField
            let value = try row.value(at: plan.slots[field])
            guard let key = RecordKey(value, plan.plan.record.attributeKinds[field]) else { throw NotDirect() }
            return key
        }

        private func match(_ node: Int, _ row: any CurrentRow, _ plan: DirectPlan) throws {
            keys[node] = row.key
            var slots: [Int] = []
            for field in plan.attributes {
                let (slot, new) = (plan.slots[field], graph.value(node, field))
                if plan.plan.record.attributeKinds[field] != nil {
                    if try !row.holds(new, at: slot) { slots.append(slot) }
                } else if case .composite(let record) = plan.plan.fields[field].kind {
                    if !record.isSame(new.composite, try row.value(at: slot).composite) { slots.append(slot) }
                } else if try !row.holds(new, at: slot) {
                    slots.append(slot)
                }
            }
            if !slots.isEmpty { differing[node] = (try row.whole(), slots.sorted()) }
        }

        /// Compares what models have in them, level by level.
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
                let new = try compare(nodes, lists, plan, member)
                // What is there elsewhere comes from another model.
                if !new.isEmpty {
                    try find(new, member.destination)
                    guard new.allSatisfy({ keys[$0] == nil }) else { throw NotDirect() }
                }
                try descend(from: lists.flatMap { $0 }, member.destination)
            }
        }

        /// Compares a relationship of models with what the store has.
        ///
        /// - Returns: the models in it that are not there.
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
                    return try match(lists[place][next], row, destination)
                }
                if let node = graph.node(try key(of: row, destination), of: destination.plan) {
                    guard owners[node] == nodes[place], keys[node] == nil else { throw NotDirect() }
                    isInOrder[place] = false
                    found[place] += 1
                    return try match(node, row, destination)
                }
                guard member.isOwned, destination.isLeaf else { throw NotDirect() }
                let left = try row.whole()
                removed[place, default: []].append(left.objectID)
                deleted.append(RowDeletion(objectID: left.objectID, version: left.version))
            }
            var new: [Int] = []
            for place in nodes.indices
            where found[place] < lists[place].count || removed[place] != nil || !isInOrder[place] {
                let added = lists[place].filter { keys[$0] == nil }
                new += added
                guard !added.isEmpty || removed[place] != nil || member.relationship.isOrdered else { continue }
                memberChanges[nodes[place], default: []].append(
                    MemberChange(
                        member: member, added: added, removed: (removed[place] ?? []).sorted { $0.key < $1.key },
                        targets: lists[place]))
            }
            return new
        }

        /// What lacks a value that it must have is refused by the rules of objects, in their words.
        private func checkValues() throws {
            guard plans.contains(where: { !($0?.required.isEmpty ?? true) }) else { return }
            for node in graph.nodes.indices where keys[node] == nil || differing[node] != nil {
                guard let plan = plans[graph.nodes[node].table] else { throw NotDirect() }
                for field in plan.required where graph.isNull(node, field) { throw NotDirect() }
            }
        }

        // MARK: What is written

        /// The values of a row as its model has them, the owner's left out.
        private func values(_ node: Int, _ plan: DirectPlan) -> ContiguousArray<StoredValue> {
            var values = differing[node]?.row.values ?? plan.layout.defaultValues
            for field in plan.attributes { values[plan.slots[field]] = graph.value(node, field) }
            return values
        }

        /// Writes what differs.
        ///
        /// - Parameter context: the transaction's context, on whose queue this runs.
        /// - Throws: `SaveRefusal` for conflicts, and the errors of the store; then nothing is written.
        func commit(in context: NSManagedObjectContext) throws {
            do { try commit(in: context, countsKeys: false) } catch is KeysTaken {
                // Others were faster: with keys that nobody else gets.
                try commit(in: context, countsKeys: true)
            }
        }

        private func commit(in context: NSManagedObjectContext, countsKeys: Bool) throws {
            let new = graph.nodes.indices.filter { keys[$0] == nil }
            let known = Set(differing.keys).union(memberChanges.keys.filter { keys[$0] != nil }).sorted()
            guard !new.isEmpty || !known.isEmpty || !deleted.isEmpty else { return }
            let layouts = new.compactMap { plans[graph.nodes[$0].table]?.layout }
            let made = try context.makeIdentifiers(for: layouts, in: store, countsKeys: countsKeys)
            for (node, identifier) in zip(new, made.identifiers) { identifiers[node] = identifier }
            var changes = ChangeSet()
            changes.promises = made.promises
            changes.deleted = deleted
            changes.inserted.reserveCapacity(new.count)
            for node in new {
                guard let plan = plans[graph.nodes[node].table], let identifier = identifier(node) else { continue }
                var values = values(node, plan)
                if owners[node] >= 0, let owner = self.identifier(owners[node]) {
                    values[ownerSlots[node]] = .identifier(owner)
                }
                changes.inserted.append(
                    RowChange(
                        objectID: identifier, version: 0, values: values, changedSlots: [],
                        toManyChanges: plan.members.isEmpty ? [] : toManyChanges(node)))
            }
            let stored = try rowsOfOwners(known)
            for node in known {
                guard let plan = plans[graph.nodes[node].table], let row = differing[node]?.row ?? stored[node] else {
                    throw NotDirect()
                }
                changes.updated.append(
                    RowChange(
                        objectID: row.objectID, version: row.version,
                        values: differing[node] == nil ? row.values : values(node, plan),
                        changedSlots: differing[node]?.slots ?? [], toManyChanges: toManyChanges(node)))
            }
            try context.saveRows(changes, to: store, isRepeated: countsKeys)
        }

        /// The rows of models of which nothing changes but what is in them.
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
            guard let changes = memberChanges[node] else { return [] }
            return changes.map { change in
                ToManyChange(
                    relationship: change.member.relationship, added: change.added.compactMap(identifier),
                    removed: change.removed,
                    order: change.member.relationship.isOrdered ? change.targets.compactMap(identifier) : nil)
            }
        }
    }
#endif
