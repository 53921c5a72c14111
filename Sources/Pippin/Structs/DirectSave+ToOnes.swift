import StoreSession

// To-one relationships to models that others may have as well, and references. A model at the end counts as
// changed, since its inverse relationship has changed: its version is increased, as when objects are saved.
extension DirectSave {
    /// The changes at the other side of to-one relationships.
    struct References {
        /// Whether a node was looked up by its identifier.
        fileprivate(set) var isFound: ContiguousArray<Bool>
        /// By the destination's node.
        fileprivate var byNode: [Int: [ObjectIdentifier: Change]] = [:]
        /// By the key of a row, which may have no node.
        fileprivate var byKey: [FormerDestination: [ObjectIdentifier: Change]] = [:]

        /// - Parameters:
        ///   - count: how many nodes there are.
        ///   - roots: how many of them, from the first on, are looked up in any case.
        init(count: Int, roots: Int) {
            isFound = ContiguousArray(repeating: false, count: count)
            for root in 0..<roots { isFound[root] = true }
        }

        var isEmpty: Bool { byNode.isEmpty && byKey.isEmpty }
        /// The nodes of the destinations.
        var changed: [Int] { Array(byNode.keys) }
        /// Whether relationships have begun or ceased to lead to a node.
        func lead(to node: Int) -> Bool { byNode[node] != nil }

        /// Adds nodes that a relationship leads to the destination from, and did not before.
        mutating func add(_ sources: [Int], to node: Int, _ inverse: RelationshipLayout) {
            byNode[node, default: [:]][ObjectIdentifier(inverse), default: Change(inverse: inverse)].added +=
                sources
        }

        /// The change of an inverse relationship at a node; nil for none.
        func change(at node: Int, _ inverse: RelationshipLayout) -> Change? {
            byNode[node]?[ObjectIdentifier(inverse)]
        }

        /// Sets the order of an inverse relationship at a node, if it is not the order in which its members came.
        mutating func order(_ node: Int, by order: [Int], _ inverse: RelationshipLayout) {
            byNode[node, default: [:]][ObjectIdentifier(inverse), default: Change(inverse: inverse)].order = order
        }

        /// Notes that a relationship no longer leads from a node to a row.
        mutating func remove(_ source: Int, from key: Int64, of entity: EntityLayout, _ inverse: RelationshipLayout) {
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
        /// The remaining members in order, if the order matters and others are added.
        var kept: [NSManagedObjectID] = []
        /// All nodes in order, if the order was set.
        var order: [Int]?
    }

    fileprivate struct FormerDestination: Hashable {
        let entity: ObjectIdentifier
        let key: Int64
    }

    /// Finds the destinations of models, which must be known before the models are compared with their rows.
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
        // A model that is referred to here may be saved itself elsewhere in the graph.
        guard let first = destinations.first, let plan = plans[graph.nodes[first].table] else { return }
        try findDestinations(of: destinations.filter { graph.nodes[$0].row >= 0 }, plan)
        try find(destinations, plan)
        // `GraphSave` reports references that lead nowhere.
        guard destinations.allSatisfy({ keys[$0] != nil || graph.nodes[$0].row >= 0 }) else {
            throw NotDirect()
        }
    }

    /// Whether a relationship of a stored model leads where its row has it. If not, the change at the other side is
    /// noted.
    func leads(_ node: Int, _ toOne: DirectPlan.ToOne, to former: Int64?) throws -> Bool {
        let destination = graph.targets(of: node, toOne.field).first
        if let destination, let key = keys[destination], key == former { return true }
        if destination == nil, former == nil { return true }
        guard let inverse = toOne.inverse else { return false }
        if let destination { references.add([node], to: destination, inverse) }
        if let former { references.remove(node, from: former, of: toOne.destination.layout, inverse) }
        return false
    }

    /// Notes the destinations of new models, and the former destinations that had no node.
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
        // The row of a former destination may be that of a node.
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

    /// In an ordered inverse relationship, added members come after the remaining ones.
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

    /// The changes of inverse relationships at a model.
    func referenceChanges(_ node: Int) -> [ToManyChange] {
        references.byNode[node].map { Array($0.values) }.map(toManyChanges) ?? []
    }

    /// Whether a former destination that is not among the models is deleted, or has an order that changes.
    func formerDestinationsMeet(_ unsaved: UnsavedChanges) -> Bool {
        references.byKey.contains { place, changes in
            guard let inverse = changes.first?.value.inverse else { return false }
            let row = NSManagedObjectID(layout: inverse.source, store: store.identity, key: place.key)
            guard unsaved.contains(row) else { return false }
            return unsaved.update(of: row) == nil || changes.values.contains { $0.inverse.isOrdered }
        }
    }

    /// The changes of rows that are former destinations and not among the models.
    func changesOfFormerDestinations() throws -> [RowChange] {
        var changes: [RowChange] = []
        let groups = Dictionary(grouping: references.byKey.keys, by: \.entity)
        let destinations = plans.compactMap { $0 }
            .flatMap { [$0] + $0.toOnes.map(\.destination) + $0.manys.map(\.destination) }
        for (_, places) in groups {
            guard let layout = references.byKey[places[0]]?.first?.value.inverse.source else { throw NotDirect() }
            guard let plan = destinations.first(where: { $0.layout === layout })?.plan else { throw NotDirect() }
            let identifiers = places.map(\.key).sorted().map {
                NSManagedObjectID(layout: layout, store: store.identity, key: $0)
            }
            let before = changes.count
            try rows.forEachRow(of: plan, for: identifiers) { place, row in
                let row = try row.whole()
                let change = references.byKey[
                    FormerDestination(entity: ObjectIdentifier(layout), key: identifiers[place].key)]
                changes.append(
                    RowChange(
                        objectID: row.objectID, version: row.version, values: row.values, changedSlots: [],
                        toManyChanges: toManyChanges(Array((change ?? [:]).values))))
            }
            // If a relationship leads to a row that does not exist, `GraphSave` reports it.
            guard changes.count - before == identifiers.count else { throw NotDirect() }
        }
        return changes.sorted { $0.objectID.key < $1.objectID.key }
    }

    private func toManyChanges(_ changes: [Change]) -> [ToManyChange] {
        changes.sorted { $0.inverse.index < $1.inverse.index }.map { change in
            var order = change.order.map { $0.compactMap(identifier) }
            // Removals alone do not change the order of the others.
            if order == nil, change.inverse.isOrdered, !change.added.isEmpty {
                order = change.kept + change.added.compactMap(identifier)
            }
            return ToManyChange(
                relationship: change.inverse, added: inOrder(change.added), removed: inOrder(change.removed),
                order: order, pairs: .otherEnd)
        }
    }
}
