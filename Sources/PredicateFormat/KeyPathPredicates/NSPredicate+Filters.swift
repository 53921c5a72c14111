import Foundation

// Methods that make predicates, in place of operators:
//
//     request.predicate = .compound(
//         .filter(keyPath: \Person.age, moreThan: 30),
//         .filter(keyPath: \Person.department, value: "dev-", operator: .beginsWith))

extension NSPredicate {
    /// The way in which ``filter(keyPath:value:operator:options:)`` compares texts.
    public enum MatchingOperator: Sendable {
        /// `BEGINSWITH`
        case beginsWith
        /// `CONTAINS`
        case contains
        /// `ENDSWITH`
        case endsWith
        /// `LIKE`: `?` is one character, `*` any number of them.
        case like
        /// `MATCHES`: a regular expression.
        case matches

        fileprivate var comparison: ComparisonOperator {
            switch self {
            case .beginsWith: .beginsWith
            case .contains: .contains
            case .endsWith: .endsWith
            case .like: .like
            case .matches: .matches
            }
        }
    }

    /// `age == 42`
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - value: the value to compare with.
    /// - Returns: the predicate.
    public static func filter<Root, Value: Equatable>(
        keyPath: KeyPath<Root, Value>, equalTo value: Value
    ) -> NSPredicate {
        keyPath.compare(.equalTo, constantTree(value))
    }

    /// `age != 42`, which is also true where `age` is nil.
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - value: the value to compare with.
    /// - Returns: the predicate.
    public static func filter<Root, Value: Equatable>(
        keyPath: KeyPath<Root, Value>, notEqualTo value: Value
    ) -> NSPredicate {
        keyPath.compare(.notEqualTo, constantTree(value))
    }

    /// `age IN {42, 43}`
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - list: the values.
    /// - Returns: the predicate.
    public static func filter<Root, Value: Equatable>(
        keyPath: KeyPath<Root, Value>, in list: some Sequence<Value>
    ) -> NSPredicate {
        keyPath.compare(.in, constantTree(collection: list))
    }

    /// `age IN {42, 43}`, for an optional property.
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - list: the values.
    /// - Returns: the predicate.
    public static func filter<Root, Value: Equatable>(
        keyPath: KeyPath<Root, Value?>, in list: some Sequence<Value>
    ) -> NSPredicate {
        keyPath.compare(.in, constantTree(collection: list))
    }

    /// `age > 42`
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - value: the value to compare with.
    /// - Returns: the predicate.
    public static func filter<Root, Value: Comparable>(
        keyPath: KeyPath<Root, Value>, moreThan value: Value
    ) -> NSPredicate {
        keyPath.compare(.greaterThan, constantTree(value))
    }

    /// `age > 42`, for an optional property.
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - value: the value to compare with.
    /// - Returns: the predicate.
    public static func filter<Root, Value: Comparable>(
        keyPath: KeyPath<Root, Value?>, moreThan value: Value
    ) -> NSPredicate {
        keyPath.compare(.greaterThan, constantTree(value))
    }

    /// `age >= 42`
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - value: the value to compare with.
    /// - Returns: the predicate.
    public static func filter<Root, Value: Comparable>(
        keyPath: KeyPath<Root, Value>, moreThanOrEqual value: Value
    ) -> NSPredicate {
        keyPath.compare(.greaterThanOrEqualTo, constantTree(value))
    }

    /// `age >= 42`, for an optional property.
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - value: the value to compare with.
    /// - Returns: the predicate.
    public static func filter<Root, Value: Comparable>(
        keyPath: KeyPath<Root, Value?>, moreThanOrEqual value: Value
    ) -> NSPredicate {
        keyPath.compare(.greaterThanOrEqualTo, constantTree(value))
    }

    /// `age < 42`
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - value: the value to compare with.
    /// - Returns: the predicate.
    public static func filter<Root, Value: Comparable>(
        keyPath: KeyPath<Root, Value>, lessThan value: Value
    ) -> NSPredicate {
        keyPath.compare(.lessThan, constantTree(value))
    }

    /// `age < 42`, for an optional property.
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - value: the value to compare with.
    /// - Returns: the predicate.
    public static func filter<Root, Value: Comparable>(
        keyPath: KeyPath<Root, Value?>, lessThan value: Value
    ) -> NSPredicate {
        keyPath.compare(.lessThan, constantTree(value))
    }

    /// `age <= 42`
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - value: the value to compare with.
    /// - Returns: the predicate.
    public static func filter<Root, Value: Comparable>(
        keyPath: KeyPath<Root, Value>, lessThanOrEqual value: Value
    ) -> NSPredicate {
        keyPath.compare(.lessThanOrEqualTo, constantTree(value))
    }

    /// `age <= 42`, for an optional property.
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - value: the value to compare with.
    /// - Returns: the predicate.
    public static func filter<Root, Value: Comparable>(
        keyPath: KeyPath<Root, Value?>, lessThanOrEqual value: Value
    ) -> NSPredicate {
        keyPath.compare(.lessThanOrEqualTo, constantTree(value))
    }

    /// `department BEGINSWITH "dev-"`, with options `department BEGINSWITH[cd] "dev-"`.
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - value: the text.
    ///   - operator: the way in which the property must match.
    ///   - options: what to ignore; by default case and diacritics matter.
    /// - Returns: the predicate.
    public static func filter<Root, Value: PredicateString>(
        keyPath: KeyPath<Root, Value>, value: String, operator: MatchingOperator,
        options: NSComparisonPredicate.Options = []
    ) -> NSPredicate {
        keyPath.compare(`operator`.comparison, constantTree(value), StringOptions(rawValue: options.rawValue))
    }

    /// Combines several predicates: all must hold, or with `.or` at least one.
    ///
    /// - Parameters:
    ///   - predicates: the predicates.
    ///   - type: the way in which they are combined.
    /// - Returns: the predicate.
    public static func compound(
        _ predicates: [NSPredicate], by type: NSCompoundPredicate.LogicalType = .and
    ) -> NSPredicate {
        NSCompoundPredicate(type: type, subpredicates: predicates)
    }

    /// Combines several predicates: all must hold, or with `.or` at least one.
    ///
    /// - Parameters:
    ///   - predicates: the predicates.
    ///   - type: the way in which they are combined.
    /// - Returns: the predicate.
    public static func compound(
        _ predicates: NSPredicate..., by type: NSCompoundPredicate.LogicalType = .and
    ) -> NSPredicate {
        compound(predicates, by: type)
    }

    /// `NOT predicate`
    ///
    /// - Parameter predicate: the predicate.
    /// - Returns: its opposite.
    public static func not(_ predicate: NSPredicate) -> NSPredicate {
        NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
    }
}

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
