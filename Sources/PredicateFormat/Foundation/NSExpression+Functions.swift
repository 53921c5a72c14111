import Foundation

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
