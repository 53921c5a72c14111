import Foundation

/// A value in a predicate, or a computation of one: a constant, a key path, a function of other expressions.
///
/// ```swift
/// NSExpression(forKeyPath: "author.name")
/// NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "year")])
/// NSExpression(format: "price * %d", 2)
/// ```
open class NSExpression: NSObject, NSCopying {
    let tree: ExpressionTree

    /// Wraps a tree.
    package init(_ tree: ExpressionTree) {
        self.tree = tree
    }

    // MARK: Creating expressions

    /// Creates an expression from a format string and the values for its placeholders.
    ///
    /// A format string that does not parse stops the program, as with `NSPredicate(format:)`. Values without a
    /// placeholder are ignored.
    ///
    /// ```swift
    /// let expression = NSExpression(format: "price * %@", 1.19)
    /// ```
    ///
    /// - Parameters:
    ///   - expressionFormat: the format, with `%@` for a value and `%K` for a key path.
    ///   - arguments: the values, in the order of the placeholders.
    public convenience init(format expressionFormat: String, _ arguments: Any?...) {
        self.init(NSExpression.parsed(expressionFormat, arguments))
    }

    /// Creates an expression from a format string and an array of the values for its placeholders.
    ///
    /// - Parameters:
    ///   - expressionFormat: the format, with `%@` for a value and `%K` for a key path.
    ///   - arguments: the values, in the order of the placeholders.
    public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
        self.init(NSExpression.parsed(expressionFormat, arguments))
    }

    /// Creates an expression from a format string that may be invalid.
    ///
    /// - Parameters:
    ///   - expressionFormat: the format, with `%@` for a value and `%K` for a key path.
    ///   - arguments: the values, in the order of the placeholders.
    /// - Throws: ``PredicateFormatError``, which marks the position and says what was expected there.
    public convenience init(parsing expressionFormat: String, arguments: [Any?] = []) throws {
        self.init(try NSExpression.tree(parsing: expressionFormat, arguments, surplus: .refused))
    }

    private static func tree(
        parsing format: String, _ arguments: [Any?], surplus: SurplusArguments
    ) throws(PredicateFormatError) -> ExpressionTree {
        try expressionTree(parsing: format, arguments: arguments.map { Value($0) }, surplus: surplus)
            .mapExpressions { $0.withoutExpressionObject }
    }

    private static func parsed(_ format: String, _ arguments: [Any?]) -> ExpressionTree {
        do {
            return try tree(parsing: format, arguments, surplus: .ignored)
        } catch {
            programmerError(error.description)
        }
    }

    /// Creates an expression for a constant: any value, including collections and `nil`. An array with expressions
    /// among its elements is what `init(forAggregate:)` makes of it.
    ///
    /// - Parameter value: the constant.
    public convenience init(forConstantValue value: Any?) {
        self.init(ExpressionTree.constant(Value(value)).withoutExpressionObject)
    }

    /// Returns the expression for the object that a predicate is evaluated with: `SELF`.
    open class func expressionForEvaluatedObject() -> NSExpression {
        NSExpression(.evaluatedObject)
    }

    /// Creates an expression for a variable: `$name`.
    ///
    /// - Parameter string: the variable's name, without the dollar sign.
    public convenience init(forVariable string: String) {
        self.init(.variable(string))
    }

    /// Creates an expression for the value under a key path, such as `author.name`, or `$author.name` starting at a
    /// variable.
    ///
    /// - Parameter keyPath: the names, with dots between them.
    public convenience init(forKeyPath keyPath: String) {
        let keys = keys(ofPath: keyPath)
        guard let first = keys.first, first.hasPrefix("$"), first.count > 1 else {
            self.init(.keys(keys))
            return
        }
        let (variable, rest) = (ExpressionTree.variable(String(first.dropFirst())), Array(keys.dropFirst()))
        self.init(rest.isEmpty ? variable : .path(from: variable, rest))
    }

    /// Creates an expression that calls one of the functions of the predicate language.
    ///
    /// - Parameters:
    ///   - name: the function's name, such as `sum:` or `raise:toPower:`. An unknown name stops the program.
    ///   - parameters: Expressions, as many as the name has colons.
    public convenience init(forFunction name: String, arguments parameters: [Any]) {
        guard let tree = ExpressionTree.function(named: name, parameters.map(NSExpression.tree)) else {
            if let function = BuiltInFunction(rawValue: name) {
                programmerError("\(name) takes \(function.argumentCount) arguments, found \(parameters.count).")
            }
            let known = BuiltInFunction.allCases.map(\.rawValue).joined(separator: ", ")
            programmerError("\"\(name)\" is not a function of expressions. The functions are \(known).")
        }
        self.init(tree)
    }

    /// Creates an expression that calls a method of the target by its name: `FUNCTION(target, "name", …)`.
    ///
    /// ``registerFunction(_:_:)`` lists the methods that can be called.
    ///
    /// - Parameters:
    ///   - target: the expression on whose value the method is called.
    ///   - name: the method's name, such as `uppercase:`.
    ///   - parameters: the arguments, as expressions; `nil` for none.
    public convenience init(forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]?) {
        self.init(.call(on: target.tree, name: name, arguments: (parameters ?? []).map(NSExpression.tree)))
    }

    /// Creates an expression for a collection of other expressions: `{1, year, $limit}`.
    ///
    /// - Parameter subexpressions: the elements, as expressions.
    public convenience init(forAggregate subexpressions: [Any]) {
        self.init(.collection(of: subexpressions.map(NSExpression.tree)))
    }

    /// Creates an expression for the union of two collections.
    ///
    /// - Parameters:
    ///   - left: an expression that gives a collection.
    ///   - right: an expression that gives a collection.
    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(.set(.union, left.tree, right.tree))
    }

    /// Creates an expression for the intersection of two collections.
    ///
    /// - Parameters:
    ///   - left: an expression that gives a collection.
    ///   - right: an expression that gives a collection.
    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(.set(.intersect, left.tree, right.tree))
    }

    /// Creates an expression for the elements of one collection that are not in another.
    ///
    /// - Parameters:
    ///   - left: an expression that gives a collection.
    ///   - right: an expression that gives a collection.
    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(.set(.minus, left.tree, right.tree))
    }

    /// Creates an expression for the elements of a collection that satisfy a predicate: `SUBQUERY(…)`.
    ///
    /// - Parameters:
    ///   - expression: the collection.
    ///   - variable: the variable for an element in the predicate, without the dollar sign.
    ///   - predicate: an `NSPredicate`, not a block predicate.
    public convenience init(
        forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate
    ) {
        self.init(.subquery(of: expression.tree, variable: variable, NSExpression.tree(of: predicate)))
    }

    /// Creates an expression with one of two values, depending on a predicate: `TERNARY(…)`.
    ///
    /// - Parameters:
    ///   - predicate: the condition.
    ///   - trueExpression: the value if the predicate holds.
    ///   - falseExpression: the value if it does not.
    public convenience init(
        forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
    ) {
        self.init(
            .conditional(NSExpression.tree(of: predicate), then: trueExpression.tree, otherwise: falseExpression.tree))
    }

    /// Returns the expression for every value of the evaluated object: `ANYKEY`.
    open class func expressionForAnyKey() -> NSExpression {
        NSExpression(.anyKey)
    }

    /// Creates an expression that is computed by Swift code. It is for use in memory only.
    ///
    /// - Parameters:
    ///   - block: Receives the evaluated object, the arguments' values and the context.
    ///   - arguments: the arguments; `nil` for none.
    public convenience init(
        block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [NSExpression]?
    ) {
        self.init(.block(BlockReference(block), (arguments ?? []).map(\.tree)))
    }

    private static func tree(_ any: Any) -> ExpressionTree {
        (any as? NSExpression)?.tree ?? .constant(Value(any))
    }

    private static func tree(of predicate: NSPredicate) -> PredicateTree {
        do {
            return try predicateTree(of: predicate)
        } catch {
            programmerError("An expression cannot contain this predicate. \(error)")
        }
    }

    // MARK: Using expressions

    /// The value of the expression.
    ///
    /// - Parameters:
    ///   - object: the object that `SELF` and key paths refer to.
    ///   - context: Values for variables, by names without the dollar sign.
    /// - Returns: the value; `nil` for none.
    open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        var variables: [String: Value] = [:]
        for (key, value) in context ?? [:] {
            if let name = key as? String { variables[name] = Value(value) }
        }
        let value = CompiledExpression(tree).evaluate(Value(object), variables: variables).any
        // The results of set operations are sets, whatever they were made from.
        if case .set = tree, let elements = value as? [Any] { return NSSet(array: elements) }
        return value
    }

    /// The expression in the spelling of a format string.
    open override var description: String { tree.shownFormat }

    /// Whether another expression has the same content.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal expression.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSExpression else { return false }
        return tree == other.tree
    }

    /// A hash of the expression's content.
    open override var hash: Int { tree.hashValue }

    /// Returns the expression itself, which is immutable.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the object itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The content of an expression, as a value.
package func expressionTree(of expression: NSExpression) -> ExpressionTree {
    expression.tree
}

/// An expression object for a tree.
package func makeExpression(_ tree: ExpressionTree) -> NSExpression {
    NSExpression(tree)
}
