import StoreSession

/// Loads the rows that models lead to, level by level, each level of an entity at once.
struct RelatedRowLoader {
    private(set) var graph = RowGraph()
    private let registry: ModelRegistry
    private let source: any StructRows

    init(registry: ModelRegistry, source: any StructRows) {
        self.registry = registry
        self.source = source
    }

    /// - Parameters:
    ///   - first: the rows of the requested models.
    ///   - plan: the model's properties.
    /// - Returns: their numbers in the graph.
    /// - Throws: what reading the rows throws.
    mutating func load(_ first: ContiguousArray<Row>, of plan: EntityPlan) throws -> [Int] {
        let roots = first.map { graph.add($0, of: plan) }
        // Rows of references are only read for their identifiers, and not followed.
        var level = [Level(plan: plan, nodes: roots.filter { graph.follow($0) })]
        while !level.isEmpty {
            var next: [Level] = []
            for current in level {
                for (place, index) in current.plan.relationships.enumerated() {
                    guard let related = current.plan.fields[index].related else { continue }
                    let destination = try registry.plan(related)
                    let new = try load(place, index, of: current, destination)
                    guard !related.isReference else { continue }
                    let followed = new.filter { graph.follow($0) }
                    if !followed.isEmpty { next.append(Level(plan: destination, nodes: followed)) }
                }
            }
            level = next
        }
        return roots
    }

    /// Rows of one entity at the same distance from the first ones.
    private struct Level {
        let plan: EntityPlan
        let nodes: [Int]
    }

    /// Loads the destinations of one relationship for several rows.
    ///
    /// - Returns: the numbers of the destinations' rows.
    private mutating func load(
        _ place: Int, _ index: Int, of level: Level, _ destination: EntityPlan
    ) throws -> [Int] {
        let found = try identifiers(index, of: level)
        var missing: [NSManagedObjectID] = []
        var seen: Set<NSManagedObjectID> = []
        for identifier in found.joined() where seen.insert(identifier).inserted {
            if graph.number(of: identifier) == nil { missing.append(identifier) }
        }
        if !missing.isEmpty {
            for row in try source.rows(of: destination, for: missing) { _ = graph.add(row, of: destination) }
        }
        var reached: [Int] = []
        for (node, identifiers) in zip(level.nodes, found) {
            graph.link(node, at: place, to: identifiers)
            reached += graph.targets(of: node, at: place)
        }
        return reached
    }

    /// The destinations of a relationship for each of the rows.
    private func identifiers(_ index: Int, of level: Level) throws -> [[NSManagedObjectID]] {
        let field = level.plan.fields[index]
        guard field.isToMany else {
            let slot = try source.slots(of: level.plan)[index]
            return level.nodes.map { node in
                if case .identifier(let identifier) = graph.nodes[node].row.values[slot] { return [identifier] }
                return []
            }
        }
        return try source.destinations(of: field, of: level.plan, for: level.nodes.map { graph.nodes[$0].row.objectID })
    }
}
