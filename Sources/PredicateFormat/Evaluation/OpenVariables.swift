extension PredicateTree {
    /// The first variable that has no value unless one is substituted; nil in a tree that assigns variables itself.
    package var openVariable: String? { assigns ? nil : openVariable(besides: []) }

    fileprivate func openVariable(besides known: Set<String>) -> String? {
        switch self {
        case .constant: return nil
        case .and(let parts), .or(let parts):
            for part in parts { if let open = part.openVariable(besides: known) { return open } }
            return nil
        case .not(let part): return part.openVariable(besides: known)
        case .comparison(let comparison):
            return comparison.left.openVariable(besides: known) ?? comparison.right.openVariable(besides: known)
        }
    }
}

extension ExpressionTree {
    fileprivate func openVariable(besides known: Set<String>) -> String? {
        switch self {
        case .variable(let name): return known.contains(name) ? nil : name
        case .subquery(let collection, let variable, let predicate):
            return collection.openVariable(besides: known)
                ?? predicate.openVariable(besides: known.union([variable]))
        case .conditional(let condition, let then, let otherwise):
            return condition.openVariable(besides: known) ?? then.openVariable(besides: known)
                ?? otherwise.openVariable(besides: known)
        default:
            for part in parts { if let open = part.openVariable(besides: known) { return open } }
            return nil
        }
    }
}
