#if !canImport(ObjectiveC)
    import CoreData

    // Relationships to one model that others may have as well, and references. A model to which one leads counts as changed, since the
    // other side of the relationship has: its version is one more, as it is when objects are saved.
    extension DirectSave {
        /// What changes at the other side of relationships to one.
        struct References {
            /// Whether a node was looked up by its identifier.
            fileprivate(set) var isFound: ContiguousArray<Bool>
            /// By the node at the end.
            fileprivate var byNode: [Int: [ObjectIdentifier: Change]] = [:]
            /// By the key of a row that no node may have.
            fileprivate var byKey: [FormerDestination: [ObjectIdentifier: Change]] = [:]

            /// - Parameters:
            ///   - count: how many nodes there are.
            ///   - roots: how many of them, from the first on, are looked up in any case.
            init(count: Int, roots: Int) {
                isFound = ContiguousArray(repeating: false, count: count)
                for root in 0..<roots { isFound[root] = true }
            }

            var isEmpty: Bool { byNode.isEmpty && byKey.isEmpty }
            /// The nodes at the end.
            var changed: [Int] { Array(byNode.keys) }
            /// Whether relationships have come to lead to a node, or do no more.
            func lead(to node: Int) -> Bool { byNode[node] != nil }

            /// The nodes that a relationship leads to from some nodes, which it did not.
            mutating func add(_ sources: [Int], to node: Int, _ inverse: RelationshipLayout) {
                byNode[node, default: [:]][ObjectIdentifier(inverse), default: Change(inverse: inverse)].added +=
                    sources
            }

            /// What changes at one side for a node; nil for nothing.
            func change(at node: Int, _ inverse: RelationshipLayout) -> Change? {
                byNode[node]?[ObjectIdentifier(inverse)]
            }

            /// The nodes that one side has for a node, where that is not the order in which they came.
            mutating func order(_ node: Int, by order: [Int], _ inverse: RelationshipLayout) {
                byNode[node, default: [:]][ObjectIdentifier(inverse), default: Change(inverse: inverse)].order = order
            }

            /// The row that a relationship does not lead to any more from a node.
            mutating func remove(_ source: Int, from key: Int64, of entity: EntityLayout, _ inverse: RelationshipLayout)
            {
                let place = FormerDestination(entity: ObjectIdentifier(entity), key: key)
                byKey[place, default: [:]][ObjectIdentifier(inverse), default: Change(inverse: inverse)]
                    .removed.append(source)
            }
        }

        struct Change {
            let inverse: RelationshipLayout
            /// Nodes.
            var added: [Int] = []
            var removed: [Int] = []
            /// What stays, in order, where that counts and something comes to it.
            var kept: [NSManagedObjectID] = []
            /// All nodes in their order, where that is said.
            var order: [Int]?
        }

        fileprivate struct FormerDestination: Hashable {
            let entity: ObjectIdentifier
            let key: Int64
        }

        /// Finds what models lead to, before these are compared with their rows: by then it is known where they should lead.
        func findDestinations(of nodes: [Int], _ plan: DirectPlan) throws {
            for toOne in plan.toOnes {
                if toOne.isRequired, nodes.contains(where: { graph.targets(of: $0, toOne.field).isEmpty }) {
                    throw NotDirect()
                }
                try findDestinations(of: nodes, at: toOne.field)
            }
            for many in plan.manys { try findDestinations(of: nodes, at: many.field) }
        }

        private func findDestinations(of nodes: [Int], at field: Int) throws {
            var destinations: [Int] = []
            for node in nodes {
                for destination in graph.targets(of: node, field) where !references.isFound[destination] {
                    references.isFound[destination] = true
                    destinations.append(destination)
                }
            }
            // What is referred to here may be a model elsewhere.
            guard let first = destinations.first, let plan = plans[graph.nodes[first].table] else { return }
            try findDestinations(of: destinations.filter { graph.nodes[$0].row >= 0 }, plan)
            try find(destinations, plan)
            // What refers to nothing is told of by `GraphWriter`.
            guard destinations.allSatisfy({ keys[$0] != nil || graph.nodes[$0].row >= 0 }) else {
                throw NotDirect()
            }
        }

        /// Whether a relationship of a known model leads where the row has it; notes what changes at the other side where it does not.
        func leads(_ node: Int, _ toOne: DirectPlan.ToOne, to former: Int64?) throws -> Bool {
            let destination = graph.targets(of: node, toOne.field).first
            if let destination, let key = keys[destination], key == former { return true }
            if destination == nil, former == nil { return true }
            guard let inverse = toOne.inverse else { return false }
            if let destination { references.add([node], to: destination, inverse) }
            if let former { references.remove(node, from: former, of: toOne.destination.layout, inverse) }
            return false
        }

        /// Where new models lead to, and rows that no node was at the end of by then.
        func noteReferencesOfNewModels() throws {
            if plans.contains(where: { !($0?.toOnes.isEmpty ?? true) }) {
                for node in graph.nodes.indices where keys[node] == nil {
                    for toOne in plans[graph.nodes[node].table]?.toOnes ?? [] {
                        guard let inverse = toOne.inverse,
                            let destination = graph.targets(of: node, toOne.field).first
                        else { continue }
                        references.add([node], to: destination, inverse)
                    }
                }
            }
            try noteFormerDestinations()
            try findOrders()
        }

        private func noteFormerDestinations() throws {
            guard !references.byKey.isEmpty else { return }
            // A row that a relationship leads to no more may be that of a node.
            for node in graph.nodes.indices {
                guard let key = keys[node], let layout = plans[graph.nodes[node].table]?.layout,
                    let changes = references.byKey.removeValue(
                        forKey: FormerDestination(entity: ObjectIdentifier(layout), key: key))
                else { continue }
                for (id, change) in changes {
                    references.byNode[node, default: [:]][id, default: Change(inverse: change.inverse)]
                        .removed += change.removed
                }
            }
        }

        /// Where the other side has an order, what comes to it comes behind what stays.
        private func findOrders() throws {
            var wanted: [ObjectIdentifier: (inverse: RelationshipLayout, nodes: [Int])] = [:]
            for (node, changes) in references.byNode where keys[node] != nil {
                for (id, change) in changes where change.inverse.isOrdered && !change.added.isEmpty {
                    wanted[id, default: (change.inverse, [])].nodes.append(node)
                }
            }
            for (id, (inverse, nodes)) in wanted {
                let lists = try rows.keys(atEndOf: inverse, for: nodes.compactMap(identifier))
                for (place, node) in nodes.enumerated() {
                    let removed = Set((references.byNode[node]?[id]?.removed ?? []).compactMap { keys[$0] })
                    references.byNode[node]?[id]?.kept = lists[place].filter { !removed.contains($0) }
                        .map { NSManagedObjectID(layout: inverse.destination, store: store.identity, key: $0) }
                }
            }
        }

        /// What changes at the other side of relationships that lead to a model.
        func referenceChanges(_ node: Int) -> [ToManyChange] {
            references.byNode[node].map { Array($0.values) }.map(toManyChanges) ?? []
        }

        /// The changes of rows that relationships led to, other than the models' own.
        func changesOfFormerDestinations() throws -> [RowChange] {
            var changes: [RowChange] = []
            let groups = Dictionary(grouping: references.byKey.keys, by: \.entity)
            let destinations = plans.compactMap { $0 }
                .flatMap { $0.toOnes.map(\.destination) + $0.manys.map(\.destination) }
            for (_, places) in groups {
                guard let layout = references.byKey[places[0]]?.first?.value.inverse.source else { throw NotDirect() }
                guard let plan = destinations.first(where: { $0.layout === layout })?.plan else { throw NotDirect() }
                let identifiers = places.map(\.key).sorted().map {
                    NSManagedObjectID(layout: layout, store: store.identity, key: $0)
                }
                let before = changes.count
                try rows.forEachRow(of: plan, for: identifiers) { place, row in
                    let row = try row.whole()
                    try Self.checkValues(of: row)
                    let change = references.byKey[
                        FormerDestination(entity: ObjectIdentifier(layout), key: identifiers[place].key)]
                    changes.append(
                        RowChange(
                            objectID: row.objectID, version: row.version, values: row.values, changedSlots: [],
                            toManyChanges: toManyChanges(Array((change ?? [:]).values))))
                }
                // A relationship that led to no row is for `GraphWriter`.
                guard changes.count - before == identifiers.count else { throw NotDirect() }
            }
            return changes.sorted { $0.objectID.key < $1.objectID.key }
        }

        private func toManyChanges(_ changes: [Change]) -> [ToManyChange] {
            changes.sorted { $0.inverse.index < $1.inverse.index }.map { change in
                var order = change.order.map { $0.compactMap(identifier) }
                // What only goes takes no other one's place.
                if order == nil, change.inverse.isOrdered, !change.added.isEmpty {
                    order = change.kept + change.added.compactMap(identifier)
                }
                return ToManyChange(
                    relationship: change.inverse, added: inOrder(change.added), removed: inOrder(change.removed),
                    order: order, pairs: .otherEnd)
            }
        }

        /// What is saved has to have what its entity requires, also where only the other side of a relationship changes.
        static func checkValues(of row: Row) throws {
            let required = row.objectID.layout.requiredSlots ?? []
            guard required.allSatisfy({ !row.values[$0].isNull }) else { throw NotDirect() }
        }
    }
#endif
