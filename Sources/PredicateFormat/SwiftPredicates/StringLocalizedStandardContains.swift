import Foundation

// Foundation leaves these parts of a `#Predicate` out away from Apple's platforms; the macro finds them by their builders' names.

extension PredicateExpressions {
    /// `$0.title.localizedStandardContains("x")`: as people search, without regard to case and diacritics.
    ///
    /// The format string is `title CONTAINS[cdl] "x"`.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// Whether the text is found.
        public typealias Output = Bool

        /// The text that is searched.
        public let root: Root
        /// What is searched for.
        public let other: Other

        /// An expression of what is searched, and for what.
        ///
        /// - Parameters:
        ///   - root: The text that is searched.
        ///   - other: What is searched for.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Whether the text is found, with values for the predicate's variables.
        ///
        /// - Parameter bindings: The values of the variables.
        /// - Returns: `true` when the text is found.
        /// - Throws: What the parts of the expression throw.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            let (text, part) = (try root.evaluate(bindings), try other.evaluate(bindings))
            return PredicateFormat.ComparisonOperator.contains.holds(
                String(text), String(part), [.caseInsensitive, .diacriticInsensitive, .localeSensitive])
        }
    }

    /// What the macro makes of `localizedStandardContains`.
    ///
    /// - Parameters:
    ///   - root: The text that is searched.
    ///   - other: What is searched for.
    /// - Returns: The expression.
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
