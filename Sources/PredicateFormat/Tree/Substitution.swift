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

extension ExpressionTree {
    /// The tree with constants in place of its arguments.
    package func replacingArguments(with arguments: [Value]) -> ExpressionTree {
        mapExpressions { $0.replacingArgument(with: arguments) }
    }

    /// The tree with constants in place of the variables that have a value; others stay. Inside a subquery, its own
    /// variable hides one of the same name outside.
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
