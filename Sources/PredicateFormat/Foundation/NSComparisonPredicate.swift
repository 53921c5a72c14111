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

extension NSComparisonPredicate {
    /// Which elements of a collection on the left side must satisfy a comparison.
    public enum Modifier: UInt, Sendable {
        /// The sides are compared as they are.
        case direct = 0
        /// Every element: `ALL`.
        case all = 1
        /// At least one element: `ANY`.
        case any = 2

        init(_ modifier: ComparisonModifier) {
            switch modifier {
            case .direct: self = .direct
            case .all: self = .all
            case .any: self = .any
            }
        }

        var comparisonModifier: ComparisonModifier {
            switch self {
            case .direct: .direct
            case .all: .all
            case .any: .any
            }
        }
    }

    /// How the values of two expressions are compared.
    public enum Operator: UInt, Sendable {
        /// `<`
        case lessThan = 0
        /// `<=`
        case lessThanOrEqualTo = 1
        /// `>`
        case greaterThan = 2
        /// `>=`
        case greaterThanOrEqualTo = 3
        /// `==`
        case equalTo = 4
        /// `!=`
        case notEqualTo = 5
        /// `MATCHES`: a regular expression.
        case matches = 6
        /// `LIKE`: a pattern with `?` and `*`.
        case like = 7
        /// `BEGINSWITH`
        case beginsWith = 8
        /// `ENDSWITH`
        case endsWith = 9
        /// `IN`
        case `in` = 10
        /// A function named by the predicate; see ``NSComparisonPredicate/customSelector``.
        case customSelector = 11
        /// `CONTAINS`
        case contains = 99
        /// `BETWEEN`
        case between = 100

        init(_ comparison: ComparisonOperator) {
            switch comparison {
            case .lessThan: self = .lessThan
            case .lessThanOrEqualTo: self = .lessThanOrEqualTo
            case .greaterThan: self = .greaterThan
            case .greaterThanOrEqualTo: self = .greaterThanOrEqualTo
            case .equalTo: self = .equalTo
            case .notEqualTo: self = .notEqualTo
            case .matches: self = .matches
            case .like: self = .like
            case .beginsWith: self = .beginsWith
            case .endsWith: self = .endsWith
            case .in: self = .in
            case .contains: self = .contains
            case .between: self = .between
            }
        }

        var comparison: ComparisonOperator {
            switch self {
            case .lessThan: .lessThan
            case .lessThanOrEqualTo: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqualTo: .greaterThanOrEqualTo
            case .equalTo: .equalTo
            case .notEqualTo: .notEqualTo
            case .matches: .matches
            case .like: .like
            case .beginsWith: .beginsWith
            case .endsWith: .endsWith
            case .in: .in
            case .contains: .contains
            case .between: .between
            // A function's result is compared with true.
            case .customSelector: .equalTo
            }
        }
    }

    /// How strings are compared.
    public struct Options: OptionSet, Sendable {
        /// The options as bits.
        public let rawValue: UInt

        /// Options from bits.
        ///
        /// - Parameter rawValue: the bits of Foundation's constants.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// `[c]`: case is ignored.
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`: diacritics are ignored.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: byte by byte; the other options are ignored.
        public static let normalized = Options(rawValue: 4)
        /// `[l]`: by the rules of the current locale. Apple's framework supports the option without naming it.
        public static let localeSensitive = Options(rawValue: 8)
    }
}

/// The name of a method, for sort descriptors, which take their comparison as a selector; there is no Objective-C
/// runtime here.
///
/// ```swift
/// NSSortDescriptor(key: "title", ascending: true, selector: NSSelectorFromString("localizedStandardCompare:"))
/// ```
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The method's name.
    public let description: String

    /// A selector by the method's name.
    ///
    /// - Parameter name: the name, such as `compare:`.
    public init(_ name: String) {
        description = name
    }

    /// A selector by the method's name.
    ///
    /// - Parameter name: the name, such as `compare:`.
    public init(stringLiteral name: String) {
        description = name
    }
}

/// Returns the selector with a name.
///
/// - Parameter name: the name.
/// - Returns: the selector.
public func NSSelectorFromString(_ name: String) -> Selector {
    Selector(name)
}

/// Returns the name of a selector.
///
/// - Parameter selector: the selector.
/// - Returns: its name.
public func NSStringFromSelector(_ selector: Selector) -> String {
    selector.description
}

extension SortTerm.Comparison {
    /// The comparison of a string method; nil for any other method.
    init?(_ selector: Selector) {
        switch selector.description {
        case "compare:": self = .plain
        case "caseInsensitiveCompare:": self = .caseInsensitive
        case "localizedCompare:": self = .localized
        case "localizedCaseInsensitiveCompare:": self = .localizedCaseInsensitive
        case "localizedStandardCompare:": self = .localizedStandard
        default: return nil
        }
    }

    /// The method for the comparison.
    var selector: Selector {
        switch self {
        case .plain: "compare:"
        case .caseInsensitive: "caseInsensitiveCompare:"
        case .localized: "localizedCompare:"
        case .localizedCaseInsensitive: "localizedCaseInsensitiveCompare:"
        case .localizedStandard: "localizedStandardCompare:"
        }
    }
}
