import CoreData

/// The rows that models are made of, and which of them each leads to, as a value: rows by number, links by number.
struct RowGraph {
    struct Node {
        let plan: EntityPlan
        let row: Row
        /// Where the row's links begin, one for each of the plan's relationships; nil for a row that only references lead to,
        /// and whose own relationships nobody reads.
        fileprivate(set) var firstLink: Int?
    }

    private(set) var nodes: ContiguousArray<Node> = []
    private var numbers: [NSManagedObjectID: Int] = [:]
    /// Of each followed row, for each of its relationships: the part of `targets` that it leads to.
    private var links: ContiguousArray<Range<Int>> = []
    private var targets: ContiguousArray<Int> = []

    /// The number of an object's row; nil where there is no such row.
    func number(of identifier: NSManagedObjectID) -> Int? { numbers[identifier] }

    mutating func add(_ row: Row, of plan: EntityPlan) -> Int {
        if let known = numbers[row.objectID] { return known }
        numbers[row.objectID] = nodes.count
        nodes.append(Node(plan: plan, row: row))
        return nodes.count - 1
    }

    /// Says that a row's relationships are read.
    ///
    /// - Returns: whether that is news.
    mutating func follow(_ node: Int) -> Bool {
        guard nodes[node].firstLink == nil else { return false }
        nodes[node].firstLink = links.count
        for _ in nodes[node].plan.relationships { links.append(0..<0) }
        return true
    }

    /// Says what the relationship at a place among the plan's leads to. What is gone is left out.
    mutating func link(_ node: Int, at place: Int, to identifiers: [NSManagedObjectID]) {
        guard let first = nodes[node].firstLink else { return }
        let start = targets.count
        for identifier in identifiers { if let number = numbers[identifier] { targets.append(number) } }
        links[first + place] = start..<targets.count
    }

    /// What the relationship at a place among the plan's leads to.
    func targets(of node: Int, at place: Int) -> ContiguousArray<Int>.SubSequence {
        guard let first = nodes[node].firstLink else { return [] }
        return targets[links[first + place]]
    }

    /// What the row's model has in it: the rows that its relationships lead to, references left out.
    ///
    /// - Parameters:
    ///   - node: the row's number in the graph.
    ///   - requiredOnly: whether only what the model cannot be without is asked for.
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
