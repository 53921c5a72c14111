/// What an expression is evaluated in: the object that `SELF` and key paths refer to, and the values of variables.
package struct Scope {
    package let object: Value
    package var variables: [String: Value] = [:]

    package init(object: Value, variables: [String: Value] = [:]) {
        self.object = object
        self.variables = variables
    }

    func value(ofVariable name: String) -> Value {
        if let value = variables[name] { return value }
        let known =
            variables.isEmpty ? "none are given" : "given are \(variables.keys.sorted().joined(separator: ", "))"
        programmerError(
            "The predicate's variable $\(name) has no value: \(known). "
                + "Give it one by withSubstitutionVariables(_:) or evaluate(with:substitutionVariables:).")
    }
}
