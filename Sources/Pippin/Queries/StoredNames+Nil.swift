import CompactCollections
import StoreSession

// Comparisons with nil of what has no column that could be NULL. They go by the properties, as Swift does, rather
// than by the relationships, where nothing is nil. Filters by key path have the same conditions from
// `StoredComparison`.
extension StoredNames {
    /// What tells that a nested struct or a list of models is nil: none of its parts has a value, or it has neither
    /// members nor the mark of an empty one. Nil for a comparison of anything else.
    ///
    /// - Throws: ``PersistenceError/Code/notComparable`` for another comparison of a nested struct as a whole.
    func comparisonWithNil(_ tree: ComparisonTree, _ left: Resolved, _ right: Resolved) throws -> PredicateTree? {
        let isEquality = tree.comparison == .equalTo || tree.comparison == .notEqualTo
        let side = right.expression == .constant(.null) ? left : right
        let other = right.expression == .constant(.null) ? right : left
        let isWithNil = isEquality && tree.modifier == .direct && other.expression == .constant(.null)
        let isNil: PredicateTree
        switch (left.place, right.place, side.place) {
        case (_, _, .nested(let record, let isShown)?) where isWithNil && side.expression.isPath:
            isNil =
                isShown
                ? .and(record.leaves.map { side.expression.appending(keys: $0).isNil })
                : try isWithoutOwner(tree, side.expression)
        case (.nested?, _, _), (_, .nested?, _):
            throw PersistenceError.nestedValueAsWhole("\(makePredicate(.comparison(tree)))", entity: plan.name)
        case (_, _, .list(_, let mark)?) where isWithNil && side.expression.isPath:
            isNil = side.expression.isNilList(mark: mark)
        default: return nil
        }
        return tree.comparison == .equalTo ? isNil : .not(isNil)
    }

    /// That a nested value is nil which exists where the model, or the nested value, that it is in exists.
    private func isWithoutOwner(_ tree: ComparisonTree, _ path: ExpressionTree) throws -> PredicateTree {
        guard let owner = path.owner else { return .constant(false) }
        var tree = tree
        (tree.left, tree.comparison, tree.right) = (owner, .equalTo, .constant(.null))
        return try predicate(.comparison(tree))
    }
}

extension RecordPlan {
    /// The paths of its attributes.
    fileprivate var leaves: [[String]] {
        fields.flatMap { field in
            guard case .composite(let inner) = field.kind else { return [[field.name]] }
            return inner.leaves.map { [field.name] + $0 }
        }
    }
}

extension ExpressionTree {
    /// Whether it is a key path without an operator.
    fileprivate var isPath: Bool {
        switch self {
        case .keyPath(let keys), .path(_, let keys): !keys.contains { $0.hasPrefix("@") }
        default: false
        }
    }

    fileprivate var isNil: PredicateTree { .comparison(ComparisonTree(self, .equalTo, .constant(.null))) }

    /// What the last key of a path is a property of; nil for the object itself.
    fileprivate var owner: ExpressionTree? {
        switch self {
        case .keyPath(let keys) where keys.count > 1: .keyPath(keys.dropLast())
        case .path(let start, let keys): keys.count > 1 ? .path(from: start, keys.dropLast()) : start
        default: nil
        }
    }

    /// The predicate that the list at a path is nil: it is optional, and has no mark of an empty one, or the model
    /// that has it is missing.
    fileprivate func isNilList(mark: String?) -> PredicateTree {
        let (keys, origin): ([String], ExpressionTree)
        switch self {
        case .keyPath(let path): (keys, origin) = (path.dropLast(), .evaluatedObject)
        case .path(let start, let path): (keys, origin) = (path.dropLast(), start)
        default: return isNil
        }
        let owner = keys.isEmpty ? origin : origin.appending(keys: keys)
        var ways = keys.isEmpty ? [] : [owner.isNil]
        if let mark {
            let count = ComparisonTree(appending(keys: ["@count"]), .equalTo, .constant(.integer(0)))
            ways.append(.and([.comparison(count), owner.appending(keys: [mark]).isNil]))
        }
        return ways.isEmpty ? .constant(false) : ways.count == 1 ? ways[0] : .or(ways)
    }
}
