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

/// The rows of models and the links between them, as a value: rows and links have numbers.
struct RowGraph {
    struct Node {
        let plan: EntityPlan
        let row: Row
        /// The index of the row's first link, with one link for each of the plan's relationships; nil for a row that
        /// only references lead to, and whose own relationships are not read.
        fileprivate(set) var firstLink: Int?
    }

    private(set) var nodes: ContiguousArray<Node> = []
    private var numbers: [NSManagedObjectID: Int] = [:]
    /// For each relationship of each followed row, the range of its destinations in `targets`.
    private var links: ContiguousArray<Range<Int>> = []
    private var targets: ContiguousArray<Int> = []

    /// The number of an object's row; nil if there is no such row.
    func number(of identifier: NSManagedObjectID) -> Int? { numbers[identifier] }

    mutating func add(_ row: Row, of plan: EntityPlan) -> Int {
        if let known = numbers[row.objectID] { return known }
        numbers[row.objectID] = nodes.count
        nodes.append(Node(plan: plan, row: row))
        return nodes.count - 1
    }

    /// Marks a row as one whose relationships are read.
    ///
    /// - Returns: whether it was not marked before.
    mutating func follow(_ node: Int) -> Bool {
        guard nodes[node].firstLink == nil else { return false }
        nodes[node].firstLink = links.count
        for _ in nodes[node].plan.relationships { links.append(0..<0) }
        return true
    }

    /// Sets the destinations of the relationship at a place in the plan. Objects without a row are left out.
    mutating func link(_ node: Int, at place: Int, to identifiers: [NSManagedObjectID]) {
        guard let first = nodes[node].firstLink else { return }
        let start = targets.count
        for identifier in identifiers { if let number = numbers[identifier] { targets.append(number) } }
        links[first + place] = start..<targets.count
    }

    /// The destinations of the relationship at a place in the plan.
    func targets(of node: Int, at place: Int) -> ContiguousArray<Int>.SubSequence {
        guard let first = nodes[node].firstLink else { return [] }
        return targets[links[first + place]]
    }

    /// The rows that the row's model contains: the destinations of its relationships, without references.
    ///
    /// - Parameters:
    ///   - node: the row's number in the graph.
    ///   - requiredOnly: whether only members that the model cannot do without are returned.
    /// - Returns: the numbers of the rows.
    func members(of node: Int, requiredOnly: Bool = false) -> [Int] {
        let plan = nodes[node].plan
        var members: [Int] = []
        for (place, index) in plan.relationships.enumerated() {
            let field = plan.fields[index]
            guard let related = field.related, !related.isReference else { continue }
            if requiredOnly, field.isOptional || field.isToMany { continue }
            members += targets(of: node, at: place)
        }
        return members
    }
}

/// A list of keys for each of several objects, all in one array.
struct KeyLists {
    private var keys: ContiguousArray<Int64> = []
    private var ranges: ContiguousArray<Range<Int>>

    /// - Parameter count: the number of lists, which are empty at first.
    init(count: Int) { ranges = ContiguousArray(repeating: 0..<0, count: count) }

    /// Adds a key to a list. All keys of one list must be added one after the other.
    mutating func add(_ key: Int64, to list: Int) {
        let first = ranges[list].isEmpty ? keys.count : ranges[list].lowerBound
        keys.append(key)
        ranges[list] = first..<keys.count
    }

    subscript(list: Int) -> ContiguousArray<Int64>.SubSequence { keys[ranges[list]] }
}
