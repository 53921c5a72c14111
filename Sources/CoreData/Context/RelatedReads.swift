import PredicateFormat

/// The paths by which a predicate reads other objects. What it selects depends on changes of these, too.
struct RelatedReads {
    struct Read: Equatable {
        /// The relationships that lead to the objects.
        let path: [String]
        let isToMany: Bool
        /// The objects' entity.
        let entity: EntityLayout
        /// What is read from them.
        let key: String

        static func == (left: Read, right: Read) -> Bool {
            left.path == right.path && left.entity === right.entity && left.key == right.key
        }
    }

    private(set) var reads: [Read] = []
    /// Whether these are all: not for code, fetches within a predicate, and elements of ordered collections.
    private(set) var isComplete = true

    /// Where a path begins: the evaluated object, or the element of a subquery.
    private struct Origin {
        var path: [String] = []
        var isToMany = false
        var entity: EntityLayout
    }

    /// Pure.
    init(of tree: PredicateTree, from entity: EntityLayout) {
        visit(tree, Origin(entity: entity), [:])
    }

    private mutating func visit(_ tree: PredicateTree, _ origin: Origin, _ variables: [String: Origin]) {
        switch tree {
        case .constant: return
        case .and(let parts), .or(let parts): for part in parts { visit(part, origin, variables) }
        case .not(let part): visit(part, origin, variables)
        case .comparison(let comparison):
            visit(comparison.left, origin, variables)
            visit(comparison.right, origin, variables)
        }
    }

    private mutating func visit(_ expression: ExpressionTree, _ origin: Origin, _ variables: [String: Origin]) {
        switch expression {
        case .keyPath(let keys): _ = walk(keys, from: origin)
        case .path(from: .variable(let name), let keys):
            guard let element = variables[name] else { return isComplete = false }
            _ = walk(keys, from: element)
        case .subquery(of: .keyPath(let keys), let variable, let tree):
            guard let element = walk(keys, from: origin) else { return isComplete = false }
            visit(tree, origin, variables.merging([variable: element]) { $1 })
        case .conditional(let condition, let then, let otherwise):
            visit(condition, origin, variables)
            visit(then, origin, variables)
            visit(otherwise, origin, variables)
        case .constant, .argument, .evaluatedObject, .variable: return
        case .function, .aggregate, .listed, .cast, .assignment, .set:
            for part in expression.parts { visit(part, origin, variables) }
        case .path, .subquery, .element, .call, .anyKey, .fetch, .block: isComplete = false
        }
    }

    /// Notes what a path reads from other objects.
    ///
    /// - Returns: where the path leads to; nil if that is no object.
    private mutating func walk(_ keys: [String], from origin: Origin) -> Origin? {
        var place = origin
        for (index, key) in keys.enumerated() {
            // `lines.@sum.price` reads the prices; `lines.@count` reads none.
            if key.hasPrefix("@") { continue }
            guard let relationship = place.entity.relationship(named: key) else { return nil }
            place.path.append(key)
            place.isToMany = place.isToMany || relationship.isToMany
            place.entity = relationship.destination
            guard let next = keys[(index + 1)...].first(where: { !$0.hasPrefix("@") }) else { continue }
            let read = Read(path: place.path, isToMany: place.isToMany, entity: place.entity, key: next)
            if !reads.contains(read) { reads.append(read) }
        }
        return place
    }
}
