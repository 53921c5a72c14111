import Foundation

/// Turns a `#Predicate` of Swift into a tree.
struct PredicateConversion {
    /// What the variables of the predicate and of its closures stand for.
    private var variables: [PredicateExpressions.VariableID: ExpressionTree] = [:]

    /// The tree of a predicate.
    ///
    /// - Throws: ``PredicateWithoutTreeError`` for what the predicate language cannot say.
    static func tree<Input>(of predicate: Predicate<Input>) throws -> PredicateTree {
        var conversion = PredicateConversion()
        conversion.variables[predicate.variable.key] = .evaluatedObject
        return try conversion.predicate(predicate.expression)
    }

    /// A conversion in which one more variable stands for something.
    func binding(_ variable: PredicateExpressions.VariableID, to tree: ExpressionTree) -> PredicateConversion {
        var conversion = self
        conversion.variables[variable] = tree
        return conversion
    }

    /// A conversion for the closure of a collection's method, and what it calls an element.
    func closure(_ variable: PredicateExpressions.VariableID) -> (conversion: PredicateConversion, name: String) {
        let name = "element\(variables.count)"
        return (binding(variable, to: .variable(name)), name)
    }

    func variable(_ variable: PredicateExpressions.VariableID) throws -> ExpressionTree {
        guard let tree = variables[variable] else {
            throw PredicateWithoutTreeError(reason: "The predicate uses a variable that is not its own.")
        }
        return tree
    }

    // MARK: Expressions and predicates

    /// An expression as a predicate: that a Boolean value is true.
    func predicate(_ expression: Any) throws -> PredicateTree {
        switch try node(expression) {
        case .predicate(let tree): tree
        case .expression(let tree):
            .comparison(ComparisonTree(tree, .equalTo, .constant(.boolean(true))))
        }
    }

    /// An expression as a value.
    func expression(_ expression: Any) throws -> ExpressionTree {
        switch try node(expression) {
        case .expression(let tree): tree
        case .predicate(let tree):
            .conditional(tree, then: .constant(.boolean(true)), otherwise: .constant(.boolean(false)))
        }
    }

    private func node(_ expression: Any) throws -> ConvertedNode {
        guard let convertible = expression as? any TreeConvertible else {
            throw PredicateWithoutTreeError(
                reason: "\(type(of: expression)) in a #Predicate has no equivalent in the predicate language. "
                    + "Filter what has been fetched, or write another predicate.")
        }
        return try convertible.converted(by: self)
    }
}

/// What a part of a `#Predicate` becomes.
enum ConvertedNode {
    case predicate(PredicateTree)
    case expression(ExpressionTree)

    static func comparison(
        _ left: ExpressionTree, _ comparison: ComparisonOperator, _ right: ExpressionTree, _ options: StringOptions = []
    ) -> ConvertedNode {
        .predicate(.comparison(ComparisonTree(left, comparison, right, options: options)))
    }
}

/// A part of a `#Predicate` that has an equivalent in the predicate language.
protocol TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode
}
