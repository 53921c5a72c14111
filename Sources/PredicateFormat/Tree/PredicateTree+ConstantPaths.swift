extension PredicateTree {
    /// Whether a path starts at a constant or an argument, or one is cast, including in subqueries.
    var hasConstantPaths: Bool {
        switch self {
        case .constant: false
        case .and(let parts), .or(let parts): parts.contains(where: \.hasConstantPaths)
        case .not(let part): part.hasConstantPaths
        case .comparison(let comparison): comparison.left.hasConstantPaths || comparison.right.hasConstantPaths
        }
    }
}

extension ExpressionTree {
    fileprivate var hasConstantPaths: Bool {
        switch self {
        case .path(from: .constant, _), .path(from: .argument, _), .cast(.constant, _), .cast(.argument, _): true
        case .subquery(let collection, _, let predicate): collection.hasConstantPaths || predicate.hasConstantPaths
        case .conditional(let condition, _, _) where condition.hasConstantPaths: true
        default: parts.contains(where: \.hasConstantPaths)
        }
    }
}
