/// What an expression is evaluated in: the object that `SELF` and key paths refer to, and the values of variables.
package struct Scope {
    package let object: Value
    package var variables: [String: Value] = [:]
    /// What `$name := …` has given values; nil where nothing does.
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
    /// Whether there is an assignment in the predicate.
    var assigns: Bool {
        var found = false
        forEachComparison { found = found || $0.left.assigns || $0.right.assigns }
        return found
    }
}

extension ExpressionTree {
    /// Whether there is an assignment in the expression.
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
