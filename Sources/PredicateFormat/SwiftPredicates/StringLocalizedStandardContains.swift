import Foundation

// Foundation lacks these parts of a `#Predicate` outside Apple's platforms; the macro finds them by their builders'
// names.

extension PredicateExpressions {
    /// `$0.title.localizedStandardContains("x")`: a search by a user, ignoring case and diacritics.
    ///
    /// The format string is `title CONTAINS[cdl] "x"`.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// Whether the text is found.
        public typealias Output = Bool

        /// The text to search in.
        public let root: Root
        /// The text to search for.
        public let other: Other

        /// An expression for the texts to search in and for.
        ///
        /// - Parameters:
        ///   - root: the text to search in.
        ///   - other: the text to search for.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Whether the text is found, with values for the predicate's variables.
        ///
        /// - Parameter bindings: the values of the variables.
        /// - Returns: `true` if the text is found.
        /// - Throws: the errors of the expression's parts.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            let (text, part) = (try root.evaluate(bindings), try other.evaluate(bindings))
            return PredicateFormat.ComparisonOperator.contains.holds(
                String(text), String(part), [.caseInsensitive, .diacriticInsensitive, .localeSensitive])
        }
    }

    /// The macro's expansion of `localizedStandardContains`.
    ///
    /// - Parameters:
    ///   - root: the text to search in.
    ///   - other: the text to search for.
    /// - Returns: the expression.
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> {
        StringLocalizedStandardContains(root: root, other: other)
    }
}

extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}

extension PredicateExpressions.StringLocalizedStandardContains: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .comparison(
            try conversion.expression(root), .contains, try conversion.expression(other),
            [.caseInsensitive, .diacriticInsensitive, .localeSensitive])
    }
}

extension PredicateExpressions.Conjunction: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let (left, right) = (try conversion.predicate(lhs), try conversion.predicate(rhs))
        if case .and(let parts) = left { return .predicate(.and(parts + [right])) }
        return .predicate(.and([left, right]))
    }
}

extension PredicateExpressions.Disjunction: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let (left, right) = (try conversion.predicate(lhs), try conversion.predicate(rhs))
        if case .or(let parts) = left { return .predicate(.or(parts + [right])) }
        return .predicate(.or([left, right]))
    }
}

extension PredicateExpressions.Negation: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .predicate(.not(try conversion.predicate(wrapped)))
    }
}

extension PredicateExpressions.Arithmetic: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let function: BuiltInFunction =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: .add
            }
        return .expression(.function(function, [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}

extension PredicateExpressions.UnaryMinus: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.function(.negate, [try conversion.expression(wrapped)]))
    }
}

extension PredicateExpressions.IntDivision: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.function(.divide, [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}

extension PredicateExpressions.FloatDivision: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.function(.divide, [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}

extension PredicateExpressions.IntRemainder: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.function(.modulus, [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}
