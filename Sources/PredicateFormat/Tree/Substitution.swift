extension PredicateTree {
    /// The tree with every expression in it replaced by what a function makes of it, from the leaves up.
    package func mapExpressions(_ transform: (ExpressionTree) throws -> ExpressionTree) rethrows -> PredicateTree {
        switch self {
        case .constant: return self
        case .and(let parts): return .and(try parts.map { try $0.mapExpressions(transform) })
        case .or(let parts): return .or(try parts.map { try $0.mapExpressions(transform) })
        case .not(let part): return .not(try part.mapExpressions(transform))
        case .comparison(var comparison):
            comparison.left = try comparison.left.mapExpressions(transform)
            comparison.right = try comparison.right.mapExpressions(transform)
            return .comparison(comparison)
        }
    }

    /// The tree with constants in place of its arguments.
    package func replacingArguments(with arguments: [Value]) -> PredicateTree {
        mapExpressions { $0.replacingArgument(with: arguments) }
    }

    /// The tree with constants in place of the variables that have a value; others stay.
    package func replacingVariables(with values: [String: Value]) -> PredicateTree {
        mapExpressions { $0.replacingVariable(with: values) }
    }
}

extension ExpressionTree {
    /// The tree with every expression in it, itself included, replaced by what a function makes of it, from the leaves up.
    package func mapExpressions(_ transform: (ExpressionTree) throws -> ExpressionTree) rethrows -> ExpressionTree {
        func each(_ expressions: [ExpressionTree]) throws -> [ExpressionTree] {
            try expressions.map { try $0.mapExpressions(transform) }
        }
        let mapped: ExpressionTree
        switch self {
        case .constant, .argument, .evaluatedObject, .keyPath, .variable, .anyKey:
            mapped = self
        case .path(let origin, let keys):
            mapped = .path(from: try origin.mapExpressions(transform), keys)
        case .element(let collection, .at(let index)):
            mapped = .element(
                of: try collection.mapExpressions(transform), at: .at(try index.mapExpressions(transform)))
        case .element(let collection, let index):
            mapped = .element(of: try collection.mapExpressions(transform), at: index)
        case .function(let function, let arguments):
            mapped = .function(function, try each(arguments))
        case .call(let operand, let name, let arguments):
            mapped = .call(on: try operand.mapExpressions(transform), name: name, arguments: try each(arguments))
        case .cast(let expression, let type):
            mapped = .cast(try expression.mapExpressions(transform), to: try type.mapExpressions(transform))
        case .aggregate(let elements):
            mapped = ExpressionTree.collection(of: try each(elements))
        case .subquery(let collection, let variable, let predicate):
            mapped = .subquery(
                of: try collection.mapExpressions(transform), variable: variable,
                try predicate.mapExpressions(transform))
        case .conditional(let condition, let first, let second):
            mapped = .conditional(
                try condition.mapExpressions(transform), then: try first.mapExpressions(transform),
                otherwise: try second.mapExpressions(transform))
        case .set(let operation, let first, let second):
            mapped = .set(operation, try first.mapExpressions(transform), try second.mapExpressions(transform))
        case .block(let block, let arguments):
            mapped = .block(block, try each(arguments))
        }
        return try transform(mapped)
    }

    /// The tree with constants in place of its arguments.
    package func replacingArguments(with arguments: [Value]) -> ExpressionTree {
        mapExpressions { $0.replacingArgument(with: arguments) }
    }

    /// The tree with constants in place of the variables that have a value; others stay.
    package func replacingVariables(with values: [String: Value]) -> ExpressionTree {
        mapExpressions { $0.replacingVariable(with: values) }
    }

    /// A collection: a constant where all its elements are.
    package static func collection(of elements: [ExpressionTree]) -> ExpressionTree {
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            guard case .constant(let value) = element else { return .aggregate(elements) }
            values.append(value)
        }
        return .constant(.collection(values))
    }

    fileprivate func replacingArgument(with arguments: [Value]) -> ExpressionTree {
        guard case .argument(let index) = self, arguments.indices.contains(index) else { return self }
        return .constant(arguments[index])
    }

    fileprivate func replacingVariable(with values: [String: Value]) -> ExpressionTree {
        guard case .variable(let name) = self, let value = values[name] else { return self }
        return .constant(value)
    }
}
