extension PredicateTree {
    /// Why the predicate cannot be evaluated; nil if it can.
    package var obstacle: String? {
        var obstacle: String?
        forEachComparison { comparison in
            if comparison.comparison == .matches, case .constant(.string(let pattern)) = comparison.right,
                MatchesPattern.cached(pattern, options: comparison.options) == nil
            {
                obstacle = obstacle ?? "\"\(pattern)\" is no regular expression for MATCHES"
            }
            obstacle = obstacle ?? comparison.operandObstacle(constantOf: \.constantValue)
            for side in [comparison.left, comparison.right] {
                side.forEach { obstacle = obstacle ?? $0.obstacle }
            }
        }
        return obstacle
    }
}

extension ExpressionTree {
    /// Whether a function that an expression calls by name exists: one of Foundation's, or a registered one.
    package static func canCall(_ name: String) -> Bool { MethodFunctions.function(named: name) != nil }

    fileprivate var obstacle: String? {
        switch self {
        case .call(_, let name, _) where MethodFunctions.function(named: name) == nil:
            "FUNCTION(…, \"\(name)\") names a method that is not known here; NSExpression.registerFunction(_:_:) "
                + "makes it known"
        case .fetch(.constant(.object(let request)), _, _) where request.object is any FetchingOperand: nil
        case .fetch: "FETCH takes a fetch request, which no format spells; give it as an argument"
        case .anyKey: "ANYKEY cannot be evaluated: name the keys to compare"
        default: nil
        }
    }
}
