import Foundation

extension NSExpression {
    /// The kind of an expression.
    public enum ExpressionType: UInt, Sendable {
        /// A constant, including `nil`.
        case constantValue = 0
        /// `SELF`
        case evaluatedObject = 1
        /// `$name`
        case variable = 2
        /// `author.name`
        case keyPath = 3
        /// `sum(…)`, `a + b`, `FUNCTION(…)`
        case function = 4
        /// `a UNION b`
        case unionSet = 5
        /// `a INTERSECT b`
        case intersectSet = 6
        /// `a MINUS b`
        case minusSet = 7
        /// `SUBQUERY(…)`
        case subquery = 13
        /// `{a, b}`
        case aggregate = 14
        /// `ANYKEY`
        case anyKey = 15
        /// Swift code.
        case block = 19
        /// `TERNARY(…)`
        case conditional = 20
        /// `FETCH(…)`; its type is `NSFetchRequestExpressionType`.
        case fetchRequest = 50
    }

    /// The kind of the expression.
    public var expressionType: ExpressionType {
        switch tree {
        case .constant, .argument: .constantValue
        case .evaluatedObject: .evaluatedObject
        case .variable, .assignment: .variable
        case .keyPath: .keyPath
        case .path, .element, .function, .call, .cast, .listed: .function
        case .set(.union, _, _): .unionSet
        case .set(.intersect, _, _): .intersectSet
        case .set(.minus, _, _): .minusSet
        case .subquery: .subquery
        case .aggregate: .aggregate
        case .anyKey: .anyKey
        case .block: .block
        case .conditional: .conditional
        case .fetch: .fetchRequest
        }
    }

    /// The constant; `nil` also for other kinds of expressions.
    public var constantValue: Any? {
        if case .constant(let value) = tree { value.any } else { nil }
    }

    /// The key path; empty for any other expression.
    public var keyPath: String {
        switch tree {
        case .keyPath(let keys), .path(_, let keys): keys.joined(separator: ".")
        default: ""
        }
    }

    /// The function's name; empty for other kinds of expressions.
    public var function: String {
        switch tree {
        case .function(let function, _): function.rawValue
        case .call(_, let name, _): name
        case .path: "valueForKeyPath:"
        case .element: "objectFrom:withIndex:"
        case .cast: "castObject:toType:"
        default: ""
        }
    }

    /// The variable's name; empty for any other expression.
    public var variable: String {
        switch tree {
        case .variable(let name), .assignment(let name, _), .subquery(_, let name, _): name
        default: ""
        }
    }

    /// The operand of a function call: for the language's own functions, the constant "NSExpression".
    public var operand: NSExpression {
        switch tree {
        case .call(let operand, _, _): NSExpression(operand)
        case .path(let origin, _): NSExpression(origin)
        case .function, .element, .cast: NSExpression(.constant(.string("NSExpression")))
        default: NSExpression(.evaluatedObject)
        }
    }

    /// The arguments of a function or a block.
    public var arguments: [NSExpression]? {
        switch tree {
        case .function(_, let arguments), .call(_, _, let arguments), .block(_, let arguments):
            arguments.map { NSExpression($0) }
        case .path(_, let keys): [NSExpression(.keyPath(keys))]
        case .element(let collection, let index): [NSExpression(collection), NSExpression(index.expression)]
        case .cast(let expression, let type): [NSExpression(expression), NSExpression(type)]
        default: nil
        }
    }

    /// The collection: for an aggregate, its expressions; for a subquery, the collection that it searches.
    public var collection: Any {
        switch tree {
        case .aggregate(let elements): elements.map { NSExpression($0) }
        case .constant(.collection(let elements)): elements.map { NSExpression(.constant($0)) }
        case .subquery(let collection, _, _): NSExpression(collection)
        default: [NSExpression]()
        }
    }

    /// The predicate of a subquery or a conditional expression; always true for other expressions.
    public var predicate: NSPredicate {
        switch tree {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _): makePredicate(predicate)
        default: NSPredicate(value: true)
        }
    }

    /// The left side of a set operation; for other expressions, the expression itself.
    public var left: NSExpression {
        if case .set(_, let left, _) = tree { NSExpression(left) } else { self }
    }

    /// The right side of a set operation; for other expressions, the expression itself.
    public var right: NSExpression {
        if case .set(_, _, let right) = tree { NSExpression(right) } else { self }
    }

    /// The result of a conditional expression if its predicate is true; for other expressions, the expression itself.
    public var `true`: NSExpression {
        if case .conditional(_, let then, _) = tree { NSExpression(then) } else { self }
    }

    /// The result of a conditional expression if its predicate is false; for other expressions, the expression itself.
    public var `false`: NSExpression {
        if case .conditional(_, _, let otherwise) = tree { NSExpression(otherwise) } else { self }
    }
}

extension ElementIndex {
    /// The index as an expression; keywords are strings.
    fileprivate var expression: ExpressionTree {
        switch self {
        case .first: .constant(.string("FIRST"))
        case .last: .constant(.string("LAST"))
        case .size: .constant(.string("SIZE"))
        case .at(let index): index
        }
    }
}

extension NSExpression {
    /// Registers a function of the program for `FUNCTION(operand, "name", …)` and
    /// ``init(forFunction:selectorName:arguments:)``. It is for use in memory only.
    ///
    /// ```swift
    /// NSExpression.registerFunction("isDivisibleBy:") { operand, arguments in
    ///     guard let number = operand as? Int, let divisor = arguments.first as? Int else { return nil }
    ///     return number % divisor == 0
    /// }
    /// NSPredicate(format: "FUNCTION(number, 'isDivisibleBy:', 3) == YES")
    /// ```
    ///
    /// These methods of Foundation need no registration: of strings `length`, `uppercaseString`, `lowercaseString`,
    /// `capitalizedString`, `stringByAppendingString:`, `hasPrefix:`, `hasSuffix:`, `containsString:`,
    /// `componentsSeparatedByString:`; of numbers and strings `intValue`, `integerValue`, `longLongValue`,
    /// `doubleValue`, `floatValue`, `boolValue`, `stringValue`; of dates `timeIntervalSinceReferenceDate`,
    /// `timeIntervalSince1970`, `timeIntervalSinceDate:`, `dateByAddingTimeInterval:`; of collections `count`,
    /// `firstObject`, `lastObject`, `allObjects`, `objectAtIndex:`, `containsObject:`; and `valueForKey:`,
    /// `valueForKeyPath:`, `objectForKey:`.
    ///
    /// - Parameters:
    ///   - name: the name, as a selector with a colon for each argument.
    ///   - function: Computes the result from the operand's value and the arguments' values; numbers are `NSNumber`s.
    ///     It runs on any thread that evaluates. `nil` removes the function.
    public static func registerFunction(
        _ name: String, _ function: (@Sendable (_ operand: Any?, _ arguments: [Any?]) -> Any?)?
    ) {
        guard let function else { return MethodFunctions.register(name, nil) }
        MethodFunctions.register(name) { operand, arguments in
            PredicateFormat.Value(function(operand.any, arguments.map(\.any)))
        }
    }
}

extension ExpressionTree {
    /// The tree for a call of a language function by name; nil for an unknown name or a wrong number of arguments.
    static func function(named name: String, _ arguments: [ExpressionTree]) -> ExpressionTree? {
        switch (name, arguments.count) {
        case ("castObject:toType:", 2): return .cast(arguments[0], to: arguments[1])
        case ("objectFrom:withIndex:", 2): return .element(of: arguments[0], at: ElementIndex(arguments[1]))
        default: break
        }
        guard let function = BuiltInFunction(rawValue: name) else { return nil }
        if function.argumentCount == 1, arguments.count > 1, function.takesCollection {
            return .function(function, [.collection(of: arguments)])
        }
        return arguments.count == function.argumentCount ? .function(function, arguments) : nil
    }
}

extension ElementIndex {
    /// The index that an expression names: keywords are strings.
    fileprivate init(_ tree: ExpressionTree) {
        switch tree {
        case .constant(.string("FIRST")): self = .first
        case .constant(.string("LAST")): self = .last
        case .constant(.string("SIZE")): self = .size
        default: self = .at(tree)
        }
    }
}
