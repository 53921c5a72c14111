import Foundation

/// A predicate that compares the values of two expressions.
///
/// `NSPredicate(format: "age >= 18")` makes one, too.
///
/// ```swift
/// let adults = NSComparisonPredicate(
///     leftExpression: NSExpression(forKeyPath: "age"),
///     rightExpression: NSExpression(forConstantValue: 18),
///     modifier: .direct, type: .greaterThanOrEqualTo)
/// ```
open class NSComparisonPredicate: NSPredicate {
    let content: PredicateContent

    /// Creates a predicate of two expressions and the way to compare them.
    ///
    /// - Parameters:
    ///   - lhs: the expression on the left.
    ///   - rhs: the expression on the right.
    ///   - modifier: which elements must satisfy the comparison, if `lhs` is a collection.
    ///   - operatorType: how the values are compared.
    ///   - options: how strings are compared.
    public init(
        leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier,
        type operatorType: Operator, options: Options = []
    ) {
        let comparison = ComparisonTree(
            lhs.tree, operatorType.comparison, rhs.tree, modifier: modifier.comparisonModifier,
            options: StringOptions(rawValue: options.rawValue))
        content = PredicateContent(.comparison(comparison))
        customSelector = nil
        super.init(value: true)
    }

    /// Creates a predicate that compares by a method of the left side's value, which takes the right side's value and
    /// returns a Boolean.
    ///
    /// It is for use in memory only: `FUNCTION(left, "selector:", right) == YES`.
    ///
    /// - Parameters:
    ///   - lhs: the expression on the left.
    ///   - rhs: the expression on the right.
    ///   - selector: one of the methods that ``NSExpression/registerFunction(_:_:)`` lists, or a registered one.
    public init(leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, customSelector selector: Selector)
    {
        customSelector = selector
        let call = ExpressionTree.call(on: lhs.tree, name: selector.description, arguments: [rhs.tree])
        content = PredicateContent(.comparison(ComparisonTree(call, .equalTo, .constant(.boolean(true)))))
        super.init(value: true)
    }

    /// Wraps a tree that is a comparison.
    init(_ content: PredicateContent) {
        self.content = content
        customSelector = nil
        super.init(value: true)
    }

    private var comparison: ComparisonTree {
        if case .comparison(let comparison) = content.tree { return comparison }
        return ComparisonTree(.constant(.null), .equalTo, .constant(.null))
    }

    /// The expression on the left.
    open var leftExpression: NSExpression {
        if customSelector != nil, case .call(let operand, _, _) = comparison.left { return NSExpression(operand) }
        return NSExpression(comparison.left)
    }

    /// The expression on the right.
    open var rightExpression: NSExpression {
        if customSelector != nil, case .call(_, _, let arguments) = comparison.left, let right = arguments.first {
            return NSExpression(right)
        }
        return NSExpression(comparison.right)
    }

    /// The method that compares, if the predicate was made with one.
    public let customSelector: Selector?

    /// Which elements must satisfy the comparison, if the left side is a collection.
    open var comparisonPredicateModifier: Modifier { Modifier(comparison.modifier) }

    /// How the values are compared.
    open var predicateOperatorType: Operator {
        customSelector == nil ? Operator(comparison.comparison) : .customSelector
    }

    /// How strings are compared.
    open var options: Options { Options(rawValue: comparison.options.rawValue) }

    /// The predicate's format string. Parsing it gives an equal predicate, unless it contains a UUID, which is shown as
    /// plain digits, as in Core Data.
    open override var predicateFormat: String { content.tree.shownFormat }

    /// The predicate's format string.
    open override var description: String { content.tree.shownFormat }

    /// Whether an object satisfies the comparison.
    ///
    /// - Parameter object: the object that key paths start at.
    /// - Returns: `true` if the comparison holds.
    open override func evaluate(with object: Any?) -> Bool {
        content.evaluate(with: object, nil)
    }

    /// Whether an object satisfies the comparison, with values for its variables.
    ///
    /// - Parameters:
    ///   - object: the object that key paths start at.
    ///   - bindings: the values, by the variables' names without the dollar sign.
    /// - Returns: `true` if the comparison holds.
    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        content.evaluate(with: object, bindings)
    }

    /// Whether another predicate has the same content.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal predicate.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSComparisonPredicate else { return false }
        return self === other || content.tree == other.content.tree
    }

    /// A hash of the predicate's content.
    open override var hash: Int { content.tree.hashValue }

    /// Returns the predicate itself, which is immutable.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the object itself.
    open override func copy(with zone: NSZone? = nil) -> Any { self }
}
