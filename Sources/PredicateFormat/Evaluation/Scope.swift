/// The scope of an evaluation: the object that `SELF` and key paths refer to, and the values of variables.
package struct Scope {
    package let object: Value
    package var variables: [String: Value] = [:]
    /// The variables assigned by `$name := …`; nil if there are no assignments.
    let assigned: AssignedVariables?

    package init(object: Value, variables: [String: Value] = [:], assigns: Bool = false) {
        self.object = object
        self.variables = variables
        assigned = assigns ? AssignedVariables() : nil
    }

    func value(ofVariable name: String) -> Value {
        if let value = assigned?.values[name] ?? variables[name] { return value }
        let known =
            variables.isEmpty ? "none are given" : "given are \(variables.keys.sorted().joined(separator: ", "))"
        programmerError(
            "The predicate's variable $\(name) has no value: \(known). "
                + "Give it one by withSubstitutionVariables(_:) or evaluate(with:substitutionVariables:).")
    }
}

/// The variables that one evaluation has assigned so far.
final class AssignedVariables {
    var values: [String: Value] = [:]
}

extension PredicateTree {
    /// Whether the predicate contains an assignment.
    var assigns: Bool {
        var found = false
        // This visits the conditions within, too.
        forEachComparison { comparison in
            for side in [comparison.left, comparison.right] {
                side.forEach { if case .assignment = $0 { found = true } }
            }
        }
        return found
    }
}

extension ExpressionTree {
    /// Whether the expression contains an assignment.
    var assigns: Bool {
        var found = false
        forEach { part in
            switch part {
            case .assignment: found = true
            case .subquery(_, _, let predicate), .conditional(let predicate, _, _): found = found || predicate.assigns
            default: break
            }
        }
        return found
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
}

extension PredicateTree {
    /// Why the predicate cannot be evaluated; nil if it can.
    package var obstacle: String? {
        var obstacle: String?
        forEachComparison { comparison in
            if comparison.comparison == .matches, case .constant(.string(let pattern)) = comparison.right,
                MatchesPattern.cached(pattern, options: comparison.options) == nil
            {
                obstacle = obstacle ?? "\"\(pattern)\" is not a regular expression for MATCHES"
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
