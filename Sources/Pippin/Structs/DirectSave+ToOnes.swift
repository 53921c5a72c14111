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

            init(count: Int) { isFound = ContiguousArray(repeating: false, count: count) }

            var isEmpty: Bool { byNode.isEmpty && byKey.isEmpty }
            /// The nodes at the end.
            var changed: [Int] { Array(byNode.keys) }
        }

        fileprivate struct Change {
            let inverse: RelationshipLayout
            /// Nodes.
            var added: [Int] = []
            var removed: [Int] = []
        }

        fileprivate struct FormerDestination: Hashable {
            let entity: ObjectIdentifier
            let key: Int64
        }

        /// Finds what models lead to, before these are compared with their rows: by then it is known where they should lead.
        func findDestinations(of nodes: [Int], _ plan: DirectPlan) throws {
            for toOne in plan.toOnes {
                var destinations: [Int] = []
                for node in nodes {
                    guard let destination = graph.targets(of: node, toOne.field).first else {
                        if toOne.isRequired { throw NotDirect() }
                        continue
                    }
                    if references.isFound[destination] { continue }
                    references.isFound[destination] = true
                    destinations.append(destination)
                }
                guard !destinations.isEmpty else { continue }
                try findDestinations(of: destinations.filter { graph.nodes[$0].row >= 0 }, toOne.destination)
                try find(destinations, toOne.destination)
                // What refers to nothing is told of by `GraphWriter`.
                guard destinations.allSatisfy({ keys[$0] != nil || graph.nodes[$0].row >= 0 }) else {
                    throw NotDirect()
                }
            }
        }

        /// Whether a relationship of a known model leads where the row has it; notes what changes at the other side where it does not.
        func leads(_ node: Int, _ toOne: DirectPlan.ToOne, to former: Int64?) throws -> Bool {
            let destination = graph.targets(of: node, toOne.field).first
            if let destination, let key = keys[destination], key == former { return true }
            if destination == nil, former == nil { return true }
            guard let inverse = toOne.inverse else { return false }
            if let destination { note(node, at: destination, inverse) }
            if let former {
                let place = FormerDestination(entity: ObjectIdentifier(toOne.destination.layout), key: former)
                references.byKey[place, default: [:]][ObjectIdentifier(inverse), default: Change(inverse: inverse)]
                    .removed.append(node)
            }
            return false
        }

        private func note(_ node: Int, at destination: Int, _ inverse: RelationshipLayout) {
            references.byNode[destination, default: [:]][ObjectIdentifier(inverse), default: Change(inverse: inverse)]
                .added.append(node)
        }

        /// Where new models lead to, and rows that no node was at the end of by then.
        func noteReferencesOfNewModels() throws {
            guard plans.contains(where: { !($0?.toOnes.isEmpty ?? true) }) else { return }
            for node in graph.nodes.indices where keys[node] == nil {
                for toOne in plans[graph.nodes[node].table]?.toOnes ?? [] {
                    guard let inverse = toOne.inverse, let destination = graph.targets(of: node, toOne.field).first
                    else {
                        continue
                    }
                    note(node, at: destination, inverse)
                }
            }
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

        /// What changes at the other side of relationships that lead to a model.
        func referenceChanges(_ node: Int) -> [ToManyChange] {
            references.byNode[node].map { Array($0.values) }.map(toManyChanges) ?? []
        }

        /// The changes of rows that relationships led to, and that are none of the models.
        func changesOfFormerDestinations() throws -> [RowChange] {
            var changes: [RowChange] = []
            let groups = Dictionary(grouping: references.byKey.keys, by: \.entity)
            for (_, places) in groups {
                guard let layout = references.byKey[places[0]]?.first?.value.inverse.source else { throw NotDirect() }
                guard
                    let plan = plans.lazy.compactMap({ $0 }).flatMap(\.toOnes).map(\.destination)
                        .first(where: { $0.layout === layout })?.plan
                else { throw NotDirect() }
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
            func inOrder(_ nodes: [Int]) -> [NSManagedObjectID] {
                nodes.compactMap(identifier).sorted { $0.key < $1.key }
            }
            return changes.sorted { $0.inverse.index < $1.inverse.index }.map { change in
                ToManyChange(
                    relationship: change.inverse, added: inOrder(change.added), removed: inOrder(change.removed),
                    order: nil)
            }
        }

        /// What is saved has to have what its entity requires, also where only the other side of a relationship changes.
        static func checkValues(of row: Row) throws {
            let required = row.objectID.layout.requiredSlots ?? []
            guard required.allSatisfy({ !row.values[$0].isNull }) else { throw NotDirect() }
        }
    }
#endif
