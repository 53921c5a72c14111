import Foundation

/// A property of text: `String`, or `String?`.
public protocol PredicateString {}

extension String: PredicateString {}
extension Optional: PredicateString where Wrapped: PredicateString {}

extension PredicateOperand where Value: PredicateString {
    /// `name BEGINSWITH "a"`, with options `name BEGINSWITH[cd] "a"`.
    ///
    /// SQL: `t0.ZNAME >= ? AND t0.ZNAME < ?`, which can use an index of the attribute; with options, a function call
    /// for each row.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - options: what to ignore; by default case and diacritics matter.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func beginsWith(_ text: String, options: NSComparisonPredicate.Options = []) -> NSPredicate {
        compare(.beginsWith, text, options)
    }

    /// `name ENDSWITH "a"`
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - options: what to ignore; by default case and diacritics matter.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func endsWith(_ text: String, options: NSComparisonPredicate.Options = []) -> NSPredicate {
        compare(.endsWith, text, options)
    }

    /// `name CONTAINS "a"`
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - options: what to ignore; by default case and diacritics matter.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func contains(_ text: String, options: NSComparisonPredicate.Options = []) -> NSPredicate {
        compare(.contains, text, options)
    }

    /// `name LIKE "a*"`: `?` stands for one character and `*` for any number of them.
    ///
    /// - Parameters:
    ///   - pattern: the pattern.
    ///   - options: what to ignore; by default case and diacritics matter.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func like(_ pattern: String, options: NSComparisonPredicate.Options = []) -> NSPredicate {
        compare(.like, pattern, options)
    }

    /// `name MATCHES "a+"`: the whole text must match a regular expression.
    ///
    /// - Parameters:
    ///   - pattern: the regular expression, in ICU's notation.
    ///   - options: what to ignore; by default case and diacritics matter.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func matches(_ pattern: String, options: NSComparisonPredicate.Options = []) -> NSPredicate {
        compare(.matches, pattern, options)
    }

    /// `name ==[cd] "a"`
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - options: what to ignore.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func equals(_ text: String, options: NSComparisonPredicate.Options) -> NSPredicate {
        compare(.equalTo, text, options)
    }

    /// `name IN[cd] {"a", "b"}`
    ///
    /// - Parameters:
    ///   - texts: the texts.
    ///   - options: what to ignore.
    /// - Returns: the predicate.
    @_disfavoredOverload
    public func `in`(_ texts: [String], options: NSComparisonPredicate.Options) -> NSPredicate {
        compare(.in, constantTree(collection: texts), StringOptions(rawValue: options.rawValue))
    }

    private func compare(
        _ comparison: ComparisonOperator, _ text: String, _ options: NSComparisonPredicate.Options
    ) -> NSPredicate {
        compare(comparison, constantTree(text), StringOptions(rawValue: options.rawValue))
    }
}
