extension PredicateTree {
    /// The tree with every expression replaced by a function's result for it, from the leaves up.
    package func mapExpressions(_ transform: (ExpressionTree) throws -> ExpressionTree) rethrows -> PredicateTree {
        try mapSides { try $0.mapExpressions(transform) }
    }

    /// The tree with both sides of every comparison replaced by a function's results for them.
    package func mapSides(_ transform: (ExpressionTree) throws -> ExpressionTree) rethrows -> PredicateTree {
        try mapComparisons { comparison in
            var comparison = comparison
            comparison.left = try transform(comparison.left)
            comparison.right = try transform(comparison.right)
            return .comparison(comparison)
        }
    }

    /// The tree with every comparison replaced by a function's result for it, apart from those within expressions.
    package func mapComparisons(_ transform: (ComparisonTree) throws -> PredicateTree) rethrows -> PredicateTree {
        switch self {
        case .constant: self
        case .and(let parts): .and(try parts.map { try $0.mapComparisons(transform) })
        case .or(let parts): .or(try parts.map { try $0.mapComparisons(transform) })
        case .not(let part): .not(try part.mapComparisons(transform))
        case .comparison(let comparison): try transform(comparison)
        }
    }
}

extension ExpressionTree {
    /// The tree with every expression, including itself, replaced by a function's result for it, from the leaves up.
    package func mapExpressions(_ transform: (ExpressionTree) throws -> ExpressionTree) rethrows -> ExpressionTree {
        let mapped = try mapParts(
            { try $0.mapExpressions(transform) }, predicates: { try $0.mapExpressions(transform) })
        return try transform(mapped)
    }

    /// The tree with its direct parts, expressions and predicates, replaced.
    package func mapParts(
        _ transform: (ExpressionTree) throws -> ExpressionTree,
        predicates transformPredicate: (PredicateTree) throws -> PredicateTree
    ) rethrows -> ExpressionTree {
        switch self {
        case .constant, .argument, .evaluatedObject, .keyPath, .variable, .anyKey:
            return self
        case .path(let origin, let keys):
            return .path(from: try transform(origin), keys)
        case .element(let collection, .at(let index)):
            return .element(of: try transform(collection), at: .at(try transform(index)))
        case .element(let collection, let index):
            return .element(of: try transform(collection), at: index)
        case .assignment(let name, let value):
            return .assignment(name, try transform(value))
        case .function(let function, let arguments):
            return .function(function, try arguments.map(transform))
        case .call(let operand, let name, let arguments):
            return .call(on: try transform(operand), name: name, arguments: try arguments.map(transform))
        case .cast(let expression, let type):
            return .cast(try transform(expression), to: try transform(type))
        case .listed(let list, let kind):
            return .listed(try transform(list), kind)
        case .aggregate(let elements):
            return .collection(of: try elements.map(transform))
        case .subquery(let collection, let variable, let predicate):
            return .subquery(of: try transform(collection), variable: variable, try transformPredicate(predicate))
        case .conditional(let condition, let first, let second):
            return .conditional(
                try transformPredicate(condition), then: try transform(first), otherwise: try transform(second))
        case .set(let operation, let first, let second):
            return .set(operation, try transform(first), try transform(second))
        case .fetch(let request, let context, let countOnly):
            return .fetch(try transform(request), in: try transform(context), countOnly: countOnly)
        case .block(let block, let arguments):
            return .block(block, try arguments.map(transform))
        }
    }

    /// A collection, as a constant if all its elements are constants.
    package static func collection(of elements: [ExpressionTree]) -> ExpressionTree {
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            guard case .constant(let value) = element else { return .aggregate(elements) }
            values.append(value)
        }
        return .constant(.collection(values))
    }
}
