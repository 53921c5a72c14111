import Foundation

/// What can stand on the left of a typed comparison: a key path of a model class, or something computed from one.
///
/// ```swift
/// import PredicateOperators
///
/// request.predicate = \Person.age > 30 && (\Person.department).beginsWith("dev-")
/// // age > 30 AND department BEGINSWITH "dev-"
/// ```
///
/// The operators are a module of their own, so that only files that import it pay for them: every overload of `==` and
/// `&&` makes the compiler's work on long expressions longer. The methods come with `import CoreData`.
///
/// A key path must be written in parentheses before a method: Swift reads `\Person.name.beginsWith` as a longer key path.
/// It may lead through relationships (`\Book.author?.name`), and must name stored or `@NSManaged` properties; one that
/// has no names stops the program.
///
/// Comparisons give an `NSPredicate` with the same tree as the format string in its comment.
public protocol PredicateOperand<Root, Value> {
    /// The type of the objects that are tested.
    associatedtype Root
    /// The type of the value that is compared.
    associatedtype Value

    /// How the value is found.
    var comparisonSide: ComparisonSide { get }
}

/// One side of a typed comparison: an expression, and which of its elements must satisfy the comparison.
public struct ComparisonSide: Sendable {
    package let tree: ExpressionTree
    var modifier: ComparisonModifier = .direct
    /// Whether the comparison must hold for none of the elements.
    var isNone = false
}

extension KeyPath: PredicateOperand {
    /// The key path in words.
    public var comparisonSide: ComparisonSide { ComparisonSide(tree: expressionTree(of: self)) }
}

/// A typed expression that is more than a key path: an element of a to-many relationship, a count, a sum.
///
/// Also the right side of a comparison of two properties:
///
/// ```swift
/// \Person.firstName == KeyPathExpression(\Person.lastName)    // firstName == lastName
/// ```
public struct KeyPathExpression<Root, Value>: PredicateOperand {
    /// How the value is found.
    public let comparisonSide: ComparisonSide

    /// The value under a key path.
    ///
    /// - Parameter keyPath: The property.
    public init(_ keyPath: KeyPath<Root, Value>) {
        comparisonSide = keyPath.comparisonSide
    }

    init(_ side: ComparisonSide) {
        comparisonSide = side
    }

    init(_ tree: ExpressionTree) {
        comparisonSide = ComparisonSide(tree: tree)
    }
}

extension PredicateOperand {
    /// The comparison of the operand with an expression.
    package func compare(
        _ comparison: ComparisonOperator, _ right: ExpressionTree, _ options: StringOptions = []
    ) -> NSPredicate {
        let side = comparisonSide
        let tree = PredicateTree.comparison(
            ComparisonTree(side.tree, comparison, right, modifier: side.modifier, options: options))
        return makePredicate(side.isNone ? .not(tree) : tree)
    }
}

/// The tree of a key path; one that reads what has no name is a programmer's error.
func expressionTree(of keyPath: AnyKeyPath) -> ExpressionTree {
    guard let keys = keys(of: keyPath) else {
        programmerError(
            "The key path \(keyPath) reads a computed property, which has no name that a predicate could use. "
                + "Use one of stored or @NSManaged properties, or NSPredicate(format:) with the key's name.")
    }
    return .keys(keys)
}

extension NSExpression {
    /// Creates an expression for the value under a key path of Swift, such as `\Book.author?.name`.
    ///
    /// - Parameter keyPath: Stored or `@NSManaged` properties. A computed one has no name and stops the program.
    public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
        self.init(PredicateFormat.expressionTree(of: keyPath))
    }
}
