import StoreSession

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
