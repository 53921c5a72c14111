extension PredicateTree {
    /// The tree with constants in place of its arguments.
    package func replacingArguments(with arguments: [Value]) -> PredicateTree {
        mapExpressions { $0.replacingArgument(with: arguments) }
    }

    /// The tree with constants in place of the variables that have a value; others stay.
    package func replacingVariables(with values: [String: Value]) -> PredicateTree {
        mapSides { $0.replacingVariables(with: values) }
    }
}

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

    /// The tree with constants in place of its arguments.
    package func replacingArguments(with arguments: [Value]) -> ExpressionTree {
        mapExpressions { $0.replacingArgument(with: arguments) }
    }

    /// The tree with constants in place of the variables that have a value; others stay. Inside a subquery, its own variable
    /// hides one of the same name outside.
    package func replacingVariables(with values: [String: Value]) -> ExpressionTree {
        switch self {
        case .variable(let name):
            return values[name].map { .constant($0) } ?? self
        case .subquery(let collection, let variable, let predicate):
            var inner = values
            inner[variable] = nil
            return .subquery(
                of: collection.replacingVariables(with: values), variable: variable,
                predicate.replacingVariables(with: inner))
        default:
            return mapParts(
                { $0.replacingVariables(with: values) }, predicates: { $0.replacingVariables(with: values) })
        }
    }

    fileprivate func replacingArgument(with arguments: [Value]) -> ExpressionTree {
        guard case .argument(let index) = self, arguments.indices.contains(index) else { return self }
        return .constant(arguments[index])
    }
}
