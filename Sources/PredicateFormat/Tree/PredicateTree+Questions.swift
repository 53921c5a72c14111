extension PredicateTree {
    /// Every comparison in the tree, including those in its expressions' subqueries and conditions, in order.
    package func forEachComparison(_ body: (ComparisonTree) throws -> Void) rethrows {
        switch self {
        case .constant: return
        case .and(let parts), .or(let parts):
            for part in parts { try part.forEachComparison(body) }
        case .not(let part): try part.forEachComparison(body)
        case .comparison(let comparison):
            try body(comparison)
            for side in [comparison.left, comparison.right] {
                try side.forEach { expression in try expression.condition?.forEachComparison(body) }
            }
        }
    }

    /// Every constant in the tree, including those of subqueries and conditions, in order.
    package func forEachConstant(_ body: (Value) -> Void) {
        switch self {
        case .constant: return
        case .and(let parts), .or(let parts): for part in parts { part.forEachConstant(body) }
        case .not(let part): part.forEachConstant(body)
        case .comparison(let comparison):
            comparison.left.forEachConstant(body)
            comparison.right.forEachConstant(body)
        }
    }
}

extension PredicateTree {
    /// The parts of an AND, including those of nested ANDs: programs add one condition after the other around what they
    /// have, and SQLite allows a hundred nested parentheses.
    package var conjuncts: [PredicateTree] {
        if case .and(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
    }
}

extension ExpressionTree {
    /// The expression and its parts, without the predicates of subqueries and conditions.
    package func forEach(_ body: (ExpressionTree) throws -> Void) rethrows {
        try body(self)
        for part in parts { try part.forEach(body) }
    }

    /// Every constant in the expression, including those of subqueries and conditions, in order.
    package func forEachConstant(_ body: (Value) -> Void) {
        forEach { expression in
            if case .constant(let value) = expression { body(value) }
            expression.condition?.forEachConstant(body)
        }
    }

    /// The predicate of a subquery or a condition.
    fileprivate var condition: PredicateTree? {
        switch self {
        case .subquery(_, _, let condition), .conditional(let condition, _, _): condition
        default: nil
        }
    }

    /// The direct parts of this expression.
    package var parts: [ExpressionTree] {
        switch self {
        case .constant, .argument, .evaluatedObject, .keyPath, .variable, .anyKey: []
        case .path(let origin, _): [origin]
        case .listed(let list, _): [list]
        case .assignment(_, let value): [value]
        case .element(let collection, .at(let index)): [collection, index]
        case .element(let collection, _): [collection]
        case .function(_, let arguments), .block(_, let arguments): arguments
        case .call(let operand, _, let arguments): [operand] + arguments
        case .cast(let expression, let type): [expression, type]
        case .aggregate(let elements): elements
        case .subquery(let collection, _, _): [collection]
        case .conditional(_, let then, let otherwise): [then, otherwise]
        case .set(_, let left, let right): [left, right]
        case .fetch(let request, let context, _): [request, context]
        }
    }
}

extension PredicateTree {
    /// Whether the tree has more levels than a limit. It looks no deeper than that.
    package func isDeeper(than limit: Int) -> Bool {
        if limit < 1 { return true }
        switch self {
        case .constant: return false
        case .and(let parts), .or(let parts): return parts.contains { $0.isDeeper(than: limit - 1) }
        case .not(let part): return part.isDeeper(than: limit - 1)
        case .comparison(let comparison):
            return comparison.left.isDeeper(than: limit - 1) || comparison.right.isDeeper(than: limit - 1)
        }
    }
}

extension ExpressionTree {
    fileprivate func isDeeper(than limit: Int) -> Bool {
        if limit < 1 { return true }
        switch self {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _):
            if predicate.isDeeper(than: limit - 1) { return true }
        default: break
        }
        return parts.contains { $0.isDeeper(than: limit - 1) }
    }
}

extension PredicateTree {
    /// Whether a path starts at a constant or an argument, or something is computed of these, including in subqueries.
    var hasConstantParts: Bool {
        switch self {
        case .constant: false
        case .and(let parts), .or(let parts): parts.contains(where: \.hasConstantParts)
        case .not(let part): part.hasConstantParts
        case .comparison(let comparison): comparison.left.hasConstantParts || comparison.right.hasConstantParts
        }
    }
}

extension ExpressionTree {
    fileprivate var hasConstantParts: Bool {
        switch self {
        case .path(from: .constant, _), .path(from: .argument, _): true
        case _ where isComputedOfConstants: true
        case .subquery(let collection, _, let predicate): collection.hasConstantParts || predicate.hasConstantParts
        case .conditional(let condition, _, _) where condition.hasConstantParts: true
        default: parts.contains(where: \.hasConstantParts)
        }
    }

    /// Whether it is a cast, or a function or method with arguments, whose value is the same for every object: it
    /// depends on constants and the time only. Random numbers are others for each object.
    var isComputedOfConstants: Bool {
        switch self {
        case .function(.random, _), .function(.randomBelow, _), .function(.noIndex, _): false
        case .function, .call, .cast: !parts.isEmpty && parts.allSatisfy(\.isFixed)
        default: false
        }
    }

    private var isFixed: Bool {
        switch self {
        case .constant, .argument, .function(.now, _): true
        default: isComputedOfConstants
        }
    }
}
