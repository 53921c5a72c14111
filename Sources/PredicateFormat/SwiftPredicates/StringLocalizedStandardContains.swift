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
