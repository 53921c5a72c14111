import Ordering

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
