import Foundation

/// The left side of a typed comparison: a key path of a model class, or something computed from one.
///
/// ```swift
/// import PredicateOperators
///
/// request.predicate = \Person.age > 30 && (\Person.department).beginsWith("dev-")
/// // age > 30 AND department BEGINSWITH "dev-"
/// ```
///
/// The operators are in a module of their own, so that only files that import it pay for them: every overload of `==`
/// and `&&` makes the compiler slower on long expressions. The methods are part of `import CoreData`.
///
/// A key path must be in parentheses before a method: Swift reads `\Person.name.beginsWith` as a longer key path. It
/// may lead through relationships (`\Book.author?.name`), and must name stored or `@NSManaged` properties; a key path
/// without names stops the program.
///
/// A comparison gives an `NSPredicate` with the same tree as the format string in its comment.
public protocol PredicateOperand<Root, Value> {
    /// The type of the tested objects.
    associatedtype Root
    /// The type of the compared value.
    associatedtype Value

    /// The expression for the value.
    var comparisonSide: ComparisonSide { get }
}

/// One side of a typed comparison: an expression, and which of its elements must satisfy the comparison.
public struct ComparisonSide: Sendable {
    package let tree: ExpressionTree
    var modifier: ComparisonModifier = .direct
    /// Whether the comparison must hold for no element.
    var isNone = false
}

extension KeyPath: PredicateOperand {
    /// The key path as an expression.
    public var comparisonSide: ComparisonSide { ComparisonSide(tree: expressionTree(of: self)) }
}

/// A typed expression other than a key path: an element of a to-many relationship, a count, a sum.
///
/// It is also used for the right side of a comparison of two properties:
///
/// ```swift
/// \Person.firstName == KeyPathExpression(\Person.lastName)    // firstName == lastName
/// ```
public struct KeyPathExpression<Root, Value>: PredicateOperand {
    /// The expression for the value.
    public let comparisonSide: ComparisonSide

    /// The value under a key path.
    ///
    /// - Parameter keyPath: the property.
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

/// The tree of a key path. A key path without names is a programmer's error.
func expressionTree(of keyPath: AnyKeyPath) -> ExpressionTree {
    guard let keys = keys(of: keyPath) else {
        programmerError(
            "The key path \(keyPath) reads a computed property, which has no name that a predicate could use. "
                + "Use one of stored or @NSManaged properties, or NSPredicate(format:) with the key's name.")
    }
    return .keys(keys)
}

extension NSExpression {
    /// Creates an expression for the value under a Swift key path, such as `\Book.author?.name`.
    ///
    /// - Parameter keyPath: stored or `@NSManaged` properties. A computed property has no name and stops the program.
    public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
        self.init(PredicateFormat.expressionTree(of: keyPath))
    }
}

// Comparison methods; each comment shows the format string of the same tree. The operators are in a module of their
// own, `PredicateOperators`.

extension PredicateOperand where Value: Equatable {
    /// `age IN {30, 31}`. SQL: `t0.ZAGE IN (?, ?)`.
    ///
    /// - Parameter values: the values.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func `in`(_ values: [Value]) -> NSPredicate {
        compare(.in, constantTree(collection: values))
    }

    /// `age IN {30, 31}`, for an optional property; not true where it is nil.
    ///
    /// - Parameter values: the values.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func `in`<Wrapped>(_ values: [Wrapped]) -> NSPredicate where Value == Wrapped? {
        compare(.in, constantTree(collection: values))
    }

    /// `age BETWEEN {18, 30}`, for an optional property.
    ///
    /// - Parameter range: the bounds.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func `in`<Wrapped: Comparable>(_ range: ClosedRange<Wrapped>) -> NSPredicate where Value == Wrapped? {
        between(range.lowerBound, range.upperBound)
    }

    /// `age >= 18 AND age < 30`, for an optional property.
    ///
    /// - Parameter range: the bounds.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func `in`<Wrapped: Comparable>(_ range: Range<Wrapped>) -> NSPredicate where Value == Wrapped? {
        .compound(
            compare(.greaterThanOrEqualTo, constantTree(range.lowerBound)),
            compare(.lessThan, constantTree(range.upperBound)))
    }
}

extension PredicateOperand {
    /// `age == nil`; also true of an empty to-many relationship. SQL: `t0.ZAGE IS NULL`.
    @_disfavoredOverload
    public var isNil: NSPredicate { compare(.equalTo, .constant(.null)) }

    /// `age != nil`. SQL: `t0.ZAGE IS NOT NULL`.
    @_disfavoredOverload
    public var isNotNil: NSPredicate { compare(.notEqualTo, .constant(.null)) }
}

// MARK: Order

extension PredicateOperand where Value: Comparable {
    /// `age BETWEEN {18, 30}`, including both bounds. SQL: `t0.ZAGE BETWEEN ? AND ?`.
    ///
    /// - Parameters:
    ///   - lower: the smallest value.
    ///   - upper: the largest value.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func between(_ lower: Value, _ upper: Value) -> NSPredicate {
        compare(.between, constantTree(collection: [lower, upper]))
    }

    /// `age BETWEEN {18, 30}`
    ///
    /// - Parameter range: the bounds.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func `in`(_ range: ClosedRange<Value>) -> NSPredicate {
        between(range.lowerBound, range.upperBound)
    }

    /// `age >= 18 AND age < 30`
    ///
    /// - Parameter range: the bounds.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func `in`(_ range: Range<Value>) -> NSPredicate {
        .compound(
            compare(.greaterThanOrEqualTo, constantTree(range.lowerBound)),
            compare(.lessThan, constantTree(range.upperBound)))
    }
}

extension PredicateOperand {
    /// `age BETWEEN {18, 30}`, for an optional property; not true where it is nil.
    ///
    /// - Parameters:
    ///   - lower: the smallest value.
    ///   - upper: the largest value.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func between<Wrapped: Comparable>(_ lower: Wrapped, _ upper: Wrapped) -> NSPredicate
    where Value == Wrapped? {
        compare(.between, constantTree(collection: [lower, upper]))
    }
}
