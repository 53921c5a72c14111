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

    /// Whether it is a search, which is true or false by itself.
    var isSearch: Bool { if case .function(.search, _) = self { true } else { false } }
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

/// A predicate in two parts, for caching what is derived from it (SQL): a skeleton, and the constants to put into it.
///
/// Predicates from one format string share the skeleton and its ``identity``, and differ only in their ``arguments``,
/// so that SQL generated for one can be reused for the next with other bindings:
///
///     NSPredicate(format: "uid == %@", "a")     skeleton  keyPath(["uid"]) == argument(0)     arguments  ["a"]
///     NSPredicate(format: "uid == %@", "b")     the same                                      arguments  ["b"]
///
/// The SQL may depend on an argument's kind (`= ?` or `IS NULL`; one `?` for each element of a collection), but on
/// nothing else of it: ``SkeletonKey`` combines the skeleton's identity with the kinds.
package struct PreparedPredicate: Sendable {
    /// The predicate with ``ExpressionTree/argument(_:)`` in place of its arguments. Literals in the format string stay
    /// where they are.
    package let skeleton: PredicateTree
    /// A number for the skeleton, the same as long as the process runs; nil if it has no number.
    package let identity: Int?
    /// The values for the skeleton's arguments, by index.
    package let arguments: [Value]
    /// Whether paths start at constants or arguments, or something is computed of these.
    package let hasConstantParts: Bool
    /// Whether a literal text spells a UUID or a number.
    let hasSpelledValues: Bool

    package init(
        skeleton: PredicateTree, identity: Int?, arguments: [Value], hasConstantParts: Bool? = nil,
        hasSpelledValues: Bool? = nil
    ) {
        self.skeleton = skeleton
        self.identity = identity
        self.arguments = arguments
        self.hasConstantParts = hasConstantParts ?? skeleton.hasConstantParts
        self.hasSpelledValues = hasSpelledValues ?? skeleton.hasSpelledValues
    }

    /// Splits a predicate that was not made from a format string: the constants on the sides of its comparisons become
    /// arguments, so that `\Person.age > 30` and `\Person.age > 31` share cached results.
    package init(parameterizing tree: PredicateTree) {
        var constants: [Value] = []
        let skeleton = tree.mapSides { side in
            guard case .constant(let value) = side else { return side }
            constants.append(value)
            return .argument(constants.count - 1)
        }
        self.init(skeleton: skeleton, identity: nil, arguments: constants)
    }

    /// The predicate with its arguments in place.
    package var tree: PredicateTree {
        arguments.isEmpty ? skeleton : skeleton.replacingArguments(with: arguments)
    }

    /// The key for caching generated SQL.
    package var key: SkeletonKey {
        var shapes = arguments.map(\.shape)
        if identity == nil { skeleton.forEachConstant { shapes.append($0.shape) } }
        return SkeletonKey(identity: identity, skeleton: identity == nil ? skeleton : nil, shapes: shapes)
    }
}

/// Identifies all predicates that result in the same SQL for the same request, apart from bound values.
package struct SkeletonKey: Hashable, Sendable {
    let identity: Int?
    let skeleton: PredicateTree?
    /// Those of the arguments, and of the skeleton's constants: 2 equals 2.0, and its SQL is another one.
    let shapes: [ValueShape]
}

/// The kind of an argument, as far as generated SQL depends on it.
package enum ValueShape: Hashable, Sendable {
    case null, integer, double, notANumber, decimal, string, date, data, uuid, url, object
    /// A collection by the shapes of its elements.
    case collection([ValueShape])
    /// A collection whose elements all have one shape: the usual case, kept compact.
    indirect case uniformCollection(ValueShape, count: Int)
}

extension Value {
    /// The kind of the value.
    package var shape: ValueShape {
        switch self {
        case .null: return .null
        case .integer: return .integer
        case .double(let number): return number.isNaN ? .notANumber : .double
        case .decimal: return .decimal
        case .string: return .string
        case .date: return .date
        case .data: return .data
        case .uuid: return .uuid
        case .url: return .url
        case .object: return .object
        case .collection(let elements):
            guard let first = elements.first?.shape else { return .collection([]) }
            if elements.allSatisfy({ $0.shape == first }) {
                return .uniformCollection(first, count: elements.count)
            }
            return .collection(elements.map(\.shape))
        }
    }
}

/// The content of a predicate, as a value. Two are equal if both have the same parts in the same order.
///
/// Obtained from any predicate by ``predicateTree(of:)``.
package indirect enum PredicateTree: Hashable, Sendable {
    /// `TRUEPREDICATE`, `FALSEPREDICATE`
    case constant(Bool)
    /// `age >= 18`
    case comparison(ComparisonTree)
    /// `a AND b AND c`; true without parts.
    case and([PredicateTree])
    /// `a OR b OR c`; false without parts.
    case or([PredicateTree])
    /// `NOT a`
    case not(PredicateTree)
}
