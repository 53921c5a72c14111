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
