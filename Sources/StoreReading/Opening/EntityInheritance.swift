import ModelFiles

/// What a store's objects say about the inheritance of their entities: a relationship that leads to an entity and has
/// an object of another one shows that this one inherits from it. Pure.
struct EntityInheritance {
    /// The entities, sorted, and those that had to be made.
    private(set) var entities: [String]
    /// The superentities of each entity that are known.
    private var superentities: [String: Set<String>] = [:]
    /// The entities that no file names.
    private var made: Set<String> = []

    init(_ entities: [String]) { self.entities = entities }

    /// Notes that an entity inherits from another one, or is that.
    mutating func insert(_ entity: String, below other: String) {
        if entity != other { superentities[entity, default: []].insert(other) }
    }

    /// Completes what is known: the superentities of an entity are a chain.
    ///
    /// - Throws: `CommandError` for inheritance that is circular, or deeper than a model may have.
    mutating func close() throws {
        var isComplete = false
        while !isComplete {
            isComplete = true
            for entity in entities {
                guard let known = superentities[entity] else { continue }
                guard !known.contains(entity), known.count <= DocumentCheck.maximumInheritance else {
                    throw CommandError(
                        "the file's relationships contradict each other about the entities from which “\(entity)” inherits"
                    )
                }
                let all = known.reduce(known) { $0.union(superentities[$1] ?? []) }
                if all != known { (superentities[entity], isComplete) = (all, false) }
            }
            guard isComplete else { continue }
            // Of two superentities, one inherits from the other. If nothing says which, the file does not tell.
            search: for entity in entities {
                let chain = chain(of: entity)
                for (upper, lower) in zip(chain, chain.dropFirst())
                where superentities[lower]?.contains(upper) != true {
                    insert(lower, below: upper)
                    isComplete = false
                    break search
                }
            }
        }
    }

    private func chain(of entity: String) -> [String] {
        (superentities[entity] ?? []).map { (superentities[$0]?.count ?? 0, $0) }.sorted { $0 < $1 }.map(\.1)
    }

    /// Gives entities to which one relationship leads a common superentity, if they have none: an abstract one, named
    /// after them.
    mutating func join(_ members: Set<String>) {
        let roots = Set(members.map(root)).sorted()
        guard roots.count > 1 else { return }
        // One that was made before takes the others, too.
        let known = roots.first(where: made.contains)
        let root = known ?? unusedName(roots.prefix(3).joined(separator: " or ") + (roots.count > 3 ? " or …" : ""))
        if known == nil {
            entities.append(root)
            made.insert(root)
        }
        let moved = Set(roots).subtracting([root])
        for entity in entities where moved.contains(self.root(of: entity)) {
            superentities[entity, default: []].insert(root)
        }
        for entity in moved where made.contains(entity) {
            entities.removeAll { $0 == entity }
            for other in superentities.keys { superentities[other]?.remove(entity) }
        }
    }

    private func unusedName(_ name: String) -> String {
        var candidate = name
        var number = 1
        while entities.contains(candidate) {
            number += 1
            candidate = "\(name) \(number)"
        }
        return candidate
    }

    // MARK: Questions

    private func root(of entity: String) -> String { chain(of: entity).first ?? entity }

    func parent(of entity: String) -> String? { chain(of: entity).last }

    func ancestors(of entity: String) -> Set<String> { superentities[entity] ?? [] }

    /// The subentities of each entity, at all levels.
    var descendants: [String: [String]] {
        var result: [String: [String]] = [:]
        for entity in entities {
            for above in superentities[entity] ?? [] { result[above, default: []].append(entity) }
        }
        return result
    }

    /// The entity from which all of these inherit; nil for none.
    func common(_ members: Set<String>) -> String? {
        if members.count == 1 { return members.first }
        let roots = Set(members.map(root))
        return roots.count == 1 ? roots.first : nil
    }
}
