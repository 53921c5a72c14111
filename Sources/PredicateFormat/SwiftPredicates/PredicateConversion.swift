import Foundation

/// Converts a Swift `#Predicate` to a tree.
struct PredicateConversion {
    /// The expressions for the variables of the predicate and of its closures.
    private var variables: [PredicateExpressions.VariableID: ExpressionTree] = [:]
    /// The expression for a value of the program.
    let constant: (Any?) -> ExpressionTree
    /// Whether the order of an enumeration's raw values stands for its own.
    let ordersRawValues: Bool
    /// The keys that a key path reads; nil if they have no names.
    let keys: (AnyKeyPath) -> [String]?
    /// The entities of the objects of a class; nil for a type that is not a class of objects.
    let entities: (Any.Type) -> ExpressionTree?

    private init(
        constant: @escaping (Any?) -> ExpressionTree, ordersRawValues: Bool, keys: @escaping (AnyKeyPath) -> [String]?,
        entities: @escaping (Any.Type) -> ExpressionTree?
    ) {
        (self.constant, self.ordersRawValues, self.keys, self.entities) = (constant, ordersRawValues, keys, entities)
    }

    /// The tree of a predicate.
    ///
    /// - Throws: ``PredicateWithoutTreeError`` for parts that the predicate language cannot express.
    static func tree<Input>(
        of predicate: Predicate<Input>, constant: @escaping (Any?) -> ExpressionTree, ordersRawValues: Bool,
        keys: @escaping (AnyKeyPath) -> [String]?, entities: @escaping (Any.Type) -> ExpressionTree?
    ) throws -> PredicateTree {
        var conversion = PredicateConversion(
            constant: constant, ordersRawValues: ordersRawValues, keys: keys, entities: entities)
        conversion.variables[predicate.variable.key] = .evaluatedObject
        return try conversion.predicate(predicate.expression)
    }

    /// The conversion with an expression for one more variable.
    func binding(_ variable: PredicateExpressions.VariableID, to tree: ExpressionTree) -> PredicateConversion {
        var conversion = self
        conversion.variables[variable] = tree
        return conversion
    }

    /// The conversion for the closure of a collection's method, and the variable's name for an element.
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

    /// An expression as a predicate, which is true if the expression's Boolean value is.
    func predicate(_ expression: Any) throws -> PredicateTree {
        switch try node(expression) {
        case .predicate(let tree): tree
        case .expression(let tree): tree.isTrue
        }
    }

    /// An expression as a value.
    func expression(_ expression: Any) throws -> ExpressionTree {
        switch try node(expression) {
        case .expression(let tree): tree
        case .predicate(let tree): .conditional(tree, then: .true, otherwise: .false)
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

extension ExpressionTree {
    fileprivate static let `true` = ExpressionTree.constant(.boolean(true))
    fileprivate static let `false` = ExpressionTree.constant(.boolean(false))

    /// Whether the value is the truth of a predicate, which is never nil.
    var isTruth: Bool {
        if case .conditional(_, .true, .false) = self { return true }
        return false
    }

    /// The predicate that a Boolean value is true. A condition of which one side is false is the other side's, which
    /// stores can look up: `$0.title?.starts(with: "x") ?? false`.
    fileprivate var isTrue: PredicateTree {
        switch self {
        case .conditional(let condition, .true, .false): condition
        case .conditional(let condition, let then, .false): .and([condition, then.isTrue])
        default: .comparison(ComparisonTree(self, .equalTo, .true))
        }
    }
}

/// The result of converting a part of a `#Predicate`.
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

/// Two values of a type with an order of its own are compared by it, which what is stored for them does not tell.
package struct EnumerationOrderError: Error {
    /// One of the values, in the predicate language.
    package let value: String
    package let type: String
}

extension PredicateConversion {
    /// - Throws: ``EnumerationOrderError`` for two values whose order their type knows, of which neither is constant.
    func checkOrder(of type: Any.Type, _ left: ExpressionTree, _ right: ExpressionTree) throws {
        guard !ordersRawValues, !left.isConstant, !right.isConstant, hasOwnOrder(type) else { return }
        throw EnumerationOrderError(value: left.format, type: "\(type)")
    }
}

/// Whether a comparable type is an enumeration or lists its cases. Their stored values may have another order. That of
/// another structure with a raw value is taken for the raw values' order.
///
/// Unsafe memory: the first word of a type's metadata is its kind in Swift's stable ABI, and that of an enumeration is
/// 0x201 (`MetadataKind::Enum`). No mirror can tell, since there is no value.
private func hasOwnOrder(_ type: Any.Type) -> Bool {
    type is any CaseIterable.Type || unsafeBitCast(type, to: UnsafePointer<Int>.self).pointee == 0x201
}

extension PredicateParsing where Self: NSPredicate {
    /// Creates a predicate that is equivalent to a Swift `#Predicate`.
    ///
    /// ```swift
    /// NSPredicate(#Predicate<Book> { $0.year > 1990 && $0.title.contains("x") })
    /// ```
    ///
    /// The result is `nil` for a predicate that the predicate language cannot express, such as one with a computed
    /// property.
    ///
    /// - Parameter predicate: Comparisons of stored or managed properties, their collections and constants.
    public init?<Input>(_ predicate: Predicate<Input>) {
        guard let tree = try? predicateTree(of: predicate), let result = makePredicate(tree) as? Self else {
            return nil
        }
        self = result
    }
}

/// The content of a Swift `#Predicate`.
///
/// - Parameters:
///   - predicate: the predicate.
///   - constant: makes the expression for a value of the program that the predicate contains.
///   - ordersRawValues: whether the order of an enumeration's raw values stands for its own, where the predicate
///     compares two of its values that are not constant.
///   - keys: the keys that a key path reads; nil if they have no names.
///   - entities: the entities of the objects of a class, for `is` and `as?`; nil for a type that is not such a class.
/// - Returns: the content.
/// - Throws: ``PredicateWithoutTreeError``, which names what the predicate language cannot express, and
///   ``EnumerationOrderError``.
package func predicateTree<Input>(
    of predicate: Predicate<Input>, constant: @escaping (Any?) -> ExpressionTree = constantTree,
    ordersRawValues: Bool = true, keys: @escaping (AnyKeyPath) -> [String]? = keys(of:),
    entities: @escaping (Any.Type) -> ExpressionTree? = { _ in nil }
) throws -> PredicateTree {
    try PredicateConversion.tree(
        of: predicate, constant: constant, ordersRawValues: ordersRawValues, keys: keys, entities: entities)
}

/// The tree for a value of the program that is compared; for an enumeration, its raw value, and for a list of
/// enumerations those.
package func constantTree(_ value: Any?) -> ExpressionTree {
    if let value = value as? any RawRepresentable { return .constant(Value(value.rawValue)) }
    if let list = value as? any Collection, let tree = rawValues(of: list) { return tree }
    return .constant(Value(value))
}

private func rawValues<Values: Collection>(of values: Values) -> ExpressionTree? {
    Values.Element.self is any RawRepresentable.Type ? constantTree(collection: values) : nil
}

/// The tree for a collection of values of the program that is compared.
func constantTree(collection: some Sequence) -> ExpressionTree {
    .collection(of: collection.map { constantTree($0) })
}

extension PredicateExpressions.Equal: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .comparison(try conversion.expression(lhs), .equalTo, try conversion.expression(rhs))
    }
}

extension PredicateExpressions.NotEqual: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .comparison(try conversion.expression(lhs), .notEqualTo, try conversion.expression(rhs))
    }
}

extension PredicateExpressions.Comparison: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let comparison: ComparisonOperator =
            switch op {
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqualTo
            @unknown default: .equalTo
            }
        let (left, right) = (try conversion.expression(lhs), try conversion.expression(rhs))
        try conversion.checkOrder(of: LHS.Output.self, left, right)
        return .comparison(left, comparison, right)
    }
}

// MARK: Ranges

/// `(1...10).contains($0.age)`
extension PredicateExpressions.RangeExpressionContains: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        guard let bounds = try (range as? any Bounded)?.bounds(conversion) else {
            throw PredicateWithoutTreeError(reason: "\(type(of: range)) in a #Predicate has no equivalent.")
        }
        let element = try conversion.expression(element)
        for bound in [bounds.lower, bounds.upper] {
            if let bound { try conversion.checkOrder(of: Element.Output.self, element, bound) }
        }
        if bounds.includesUpper, let lower = bounds.lower, let upper = bounds.upper {
            return .comparison(element, .between, .collection(of: [lower, upper]))
        }
        let isAbove = bounds.lower.map { ComparisonTree(element, .greaterThanOrEqualTo, $0) }
        let isBelow = bounds.upper.map {
            ComparisonTree(element, bounds.includesUpper ? .lessThanOrEqualTo : .lessThan, $0)
        }
        let conditions = [isAbove, isBelow].compactMap { $0.map { PredicateTree.comparison($0) } }
        return .predicate(conditions.count == 1 ? conditions[0] : .and(conditions))
    }
}

/// The bounds of a range; nil where it has no end.
private struct Bounds {
    var lower: ExpressionTree?
    var upper: ExpressionTree?
    var includesUpper = false
}

/// A range, as a part of a `#Predicate` or a value of the program.
private protocol Bounded {
    func bounds(_ conversion: PredicateConversion) throws -> Bounds?
}

extension PredicateExpressions.Range: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) throws -> Bounds? {
        Bounds(lower: try conversion.expression(lower), upper: try conversion.expression(upper))
    }
}

extension PredicateExpressions.ClosedRange: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) throws -> Bounds? {
        Bounds(lower: try conversion.expression(lower), upper: try conversion.expression(upper), includesUpper: true)
    }
}

extension PredicateExpressions.Value: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) throws -> Bounds? {
        try (value as? any Bounded)?.bounds(conversion)
    }
}

extension Range: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) -> Bounds? {
        Bounds(lower: conversion.constant(lowerBound), upper: conversion.constant(upperBound))
    }
}

extension ClosedRange: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) -> Bounds? {
        Bounds(
            lower: conversion.constant(lowerBound), upper: conversion.constant(upperBound), includesUpper: true)
    }
}

extension PartialRangeFrom: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) -> Bounds? {
        Bounds(lower: conversion.constant(lowerBound))
    }
}

extension PartialRangeThrough: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) -> Bounds? {
        Bounds(upper: conversion.constant(upperBound), includesUpper: true)
    }
}

extension PartialRangeUpTo: Bounded {
    fileprivate func bounds(_ conversion: PredicateConversion) -> Bounds? {
        Bounds(upper: conversion.constant(upperBound))
    }
}
