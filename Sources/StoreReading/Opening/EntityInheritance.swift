import ModelFiles

/// What a store's objects say about the inheritance of their entities: a relationship that leads to an entity and has
/// an object of another one shows that this one inherits from it. Pure.
struct EntityInheritance {
    /// The entities, sorted, and behind them those that had to be made.
    private(set) var entities: [String]
    /// Two entities of which the file does not tell which inherits from the other; nil if there are none.
    private(set) var guess: (entity: String, parent: String)?
    /// The superentities of each entity that are known.
    private var superentities: [String: Set<String>] = [:]

    init(_ entities: [String]) { self.entities = entities }

    /// Notes that an entity inherits from another one, or is that.
    mutating func insert(_ entity: String, below other: String) {
        if entity != other { superentities[entity, default: []].insert(other) }
    }

    /// Far more than real stores take, and no more than a second.
    private static let maximumSteps = 1_000_000
    /// One level is left for an entity that `join` makes.
    private static let maximumAncestors = DocumentCheck.maximumInheritance - 2

    /// Completes what is known: the superentities of an entity are a chain.
    ///
    /// - Returns: false for inheritance that is circular, deeper than a model may have, or too much to be followed.
    mutating func close() -> Bool {
        var steps = 0
        while true {
            guard closeTransitively(&steps) else { return false }
            // Of two superentities, one inherits from the other. If nothing says which, the file does not tell. All
            // pairs of one pass have one order, so they do not contradict each other.
            let ranks = superentities.mapValues(\.count)
            var isChained = true
            for entity in entities {
                guard let known = superentities[entity], known.count > 1 else { continue }
                steps += known.count
                let chain = Self.chain(known, ranks)
                for (upper, lower) in zip(chain, chain.dropFirst())
                where superentities[lower]?.contains(upper) != true {
                    insert(lower, below: upper)
                    if guess == nil { guess = (lower, upper) }
                    isChained = false
                }
            }
            if isChained { return true }
        }
    }

    private mutating func closeTransitively(_ steps: inout Int) -> Bool {
        var isComplete = false
        while !isComplete {
            isComplete = true
            for entity in entities {
                guard let known = superentities[entity] else { continue }
                guard !known.contains(entity), known.count <= Self.maximumAncestors else { return false }
                var all = known
                for other in known {
                    guard let above = superentities[other] else { continue }
                    steps += above.count
                    all.formUnion(above)
                }
                if all.count > known.count { (superentities[entity], isComplete) = (all, false) }
                guard steps <= Self.maximumSteps else { return false }
            }
        }
        return true
    }

    private static func chain(_ known: Set<String>, _ ranks: [String: Int]) -> [String] {
        known.map { (ranks[$0] ?? 0, $0) }.sorted { $0 < $1 }.map(\.1)
    }

    /// Gives entities to which one relationship leads a common superentity, if they have none: an abstract one, named
    /// after them. What several relationships lead to has one for all.
    mutating func join(_ groups: [Set<String>]) {
        var leaders: [String: String] = [:]
        func leader(_ root: String) -> String {
            var current = root
            while let next = leaders[current] {
                if let after = leaders[next] { leaders[current] = after }
                current = next
            }
            return current
        }
        var joined: Set<String> = []
        for group in groups {
            let roots = Set(group.map(root)).sorted()
            guard let first = roots.first, roots.count > 1 else { continue }
            joined.formUnion(roots)
            for other in roots.dropFirst() {
                let (one, two) = (leader(first), leader(other))
                if one != two { leaders[max(one, two)] = min(one, two) }
            }
        }
        let families = Dictionary(grouping: joined, by: leader)
        var names = Set(entities)
        var made: [String: String] = [:]
        for first in families.keys.sorted() {
            guard let family = families[first]?.sorted() else { continue }
            let title = family.prefix(3).joined(separator: " or ") + (family.count > 3 ? " or …" : "")
            let name = Self.unused(title, names)
            names.insert(name)
            for root in family { made[root] = name }
        }
        let known = entities
        let roots = known.map(root)
        for (entity, root) in zip(known, roots) {
            if let name = made[root] { superentities[entity, default: []].insert(name) }
        }
        entities += names.subtracting(known).sorted()
    }

    private static func unused(_ name: String, _ names: Set<String>) -> String {
        var candidate = name
        var number = 1
        while names.contains(candidate) {
            number += 1
            candidate = "\(name) \(number)"
        }
        return candidate
    }

    // MARK: Questions

    /// The superentities of an entity, the root first.
    func ancestors(of entity: String) -> [String] {
        guard let known = superentities[entity] else { return [] }
        return known.map { (superentities[$0]?.count ?? 0, $0) }.sorted { $0 < $1 }.map(\.1)
    }

    private func root(of entity: String) -> String {
        superentities[entity]?.first { superentities[$0]?.isEmpty ?? true } ?? entity
    }

    func parent(of entity: String) -> String? { ancestors(of: entity).last }

    func isKind(_ entity: String, of other: String) -> Bool {
        entity == other || superentities[entity]?.contains(other) == true
    }

    /// The entity from which all of these inherit; nil for none.
    func common(_ members: Set<String>) -> String? {
        if members.count == 1 { return members.first }
        let roots = Set(members.map(root))
        return roots.count == 1 ? roots.first : nil
    }
}
