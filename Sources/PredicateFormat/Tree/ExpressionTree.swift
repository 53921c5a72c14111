import Foundation

/// The content of an expression, as a value.
///
/// Obtained from an `NSExpression` by ``expressionTree(of:)``.
package indirect enum ExpressionTree: Hashable, Sendable {
    /// `42`, `"text"`, `nil`, `{1, 2}`
    case constant(Value)
    /// A constant that the caller of a ``PreparedPredicate`` finds at this index of its arguments. It never occurs in a
    /// tree that ``predicateTree(of:)`` returns.
    case argument(Int)
    /// `SELF`: the object that the predicate is evaluated with.
    case evaluatedObject
    /// `author.name`, `reviews.@avg.stars`: keys starting at the evaluated object; collection operators keep their `@`
    /// (see ``CollectionOperator``).
    case keyPath([String])
    /// `$book.author.name`, `FUNCTION(…).name`: keys starting at the value of another expression.
    case path(from: ExpressionTree, [String])
    /// `authors[0]`, `authors[FIRST]`
    case element(of: ExpressionTree, at: ElementIndex)
    /// `$name`: replaced by `withSubstitutionVariables(_:)`, or bound by a subquery.
    case variable(String)
    /// `$name := price * 2`: the value of the expression, which is also assigned to the variable.
    case assignment(String, ExpressionTree)
    /// `price * 2`, `lowercase(name)`, `now()`
    case function(BuiltInFunction, [ExpressionTree])
    /// `FUNCTION(operand, "name", arguments…)`: a method of the operand itself.
    case call(on: ExpressionTree, name: String, arguments: [ExpressionTree])
    /// `CAST(expression, "NSDate")`
    case cast(ExpressionTree, to: ExpressionTree)
    /// `{price, $limit}`: a collection with at least one element that is not constant.
    case aggregate([ExpressionTree])
    /// The single values of a list that an attribute has as JSON; none if there is no list. No format string can
    /// express it: it is made from the attribute, by whoever knows what the JSON is.
    case listed(ExpressionTree, ListedKind)
    /// `SUBQUERY(reviews, $review, $review.stars > 3)`: the elements for which the predicate is true.
    case subquery(of: ExpressionTree, variable: String, PredicateTree)
    /// `TERNARY(stock > 0, "yes", "no")`
    case conditional(PredicateTree, then: ExpressionTree, otherwise: ExpressionTree)
    /// `a UNION b`, `a INTERSECT b`, `a MINUS b`
    case set(SetOperation, ExpressionTree, ExpressionTree)
    /// `ANYKEY`: every value of the evaluated object.
    case anyKey
    /// `FETCH(request, context, NO)`: the results of a fetch request, or their number.
    case fetch(ExpressionTree, in: ExpressionTree, countOnly: Bool)
    /// Swift code. No format string can express it, and no SQL store can run it.
    case block(BlockReference, [ExpressionTree])
}

/// Which element of an ordered collection: the brackets of `authors[…]`.
package enum ElementIndex: Hashable, Sendable {
    /// `[FIRST]`
    case first
    /// `[LAST]`
    case last
    /// `[SIZE]`: not an element, but the number of elements.
    case size
    /// `[0]`, or the key of a dictionary.
    case at(ExpressionTree)
}

/// An operation on two collections.
package enum SetOperation: String, Hashable, Sendable, CaseIterable {
    case union = "UNION"
    case intersect = "INTERSECT"
    case minus = "MINUS"
}

/// The code of a block expression, which only equals itself.
///
/// - Note: `@unchecked Sendable`: as with Apple's block expressions, the code that shares the predicate is responsible
///   for the block.
package final class BlockReference: Hashable, @unchecked Sendable {
    package typealias Block = (Any?, [Any], NSMutableDictionary?) -> Any

    package let block: Block

    package init(_ block: @escaping Block) {
        self.block = block
    }

    package static func == (first: BlockReference, second: BlockReference) -> Bool {
        first === second
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

extension ExpressionTree {
    /// The value of a constant; nil for any other expression.
    package var constantValue: Value? {
        if case .constant(let value) = self { value } else { nil }
    }

    /// Whether it is a constant.
    var isConstant: Bool { constantValue != nil }
}

/// The kind of the single values in a list that is kept as JSON.
package enum ListedKind: String, Hashable, Sendable, CaseIterable {
    case boolean, integer, float, double, text, date, uuid, url
}

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
