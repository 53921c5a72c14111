/// How the two sides of a comparison are compared. Raw values are those of `NSComparisonPredicate.Operator`.
package enum ComparisonOperator: UInt, Hashable, Sendable, CaseIterable {
    /// `<`
    case lessThan = 0
    /// `<=`, also `=<`
    case lessThanOrEqualTo = 1
    /// `>`
    case greaterThan = 2
    /// `>=`, also `=>`
    case greaterThanOrEqualTo = 3
    /// `==`, also `=`
    case equalTo = 4
    /// `!=`, also `<>`
    case notEqualTo = 5
    /// `MATCHES`: the whole string matches a regular expression.
    case matches = 6
    /// `LIKE`: the whole string matches a pattern in which `?` is one character and `*` any number of them.
    case like = 7
    /// `BEGINSWITH`
    case beginsWith = 8
    /// `ENDSWITH`
    case endsWith = 9
    /// `IN`: the left side is an element of the right, or a substring of it.
    case `in` = 10
    /// `CONTAINS`: the right side is an element of the left, or a substring of it.
    case contains = 99
    /// `BETWEEN`: not less than the first element of the right side, and not greater than its second.
    case between = 100
}

/// Which elements of a collection on the left side must satisfy a comparison. Raw values are those of
/// `NSComparisonPredicate.Modifier`.
package enum ComparisonModifier: UInt, Hashable, Sendable, CaseIterable {
    /// The sides are compared as they are.
    case direct = 0
    /// `ALL`: every element; true for an empty collection.
    case all = 1
    /// `ANY`, also `SOME`: at least one element. `NONE` is `NOT ANY`.
    case any = 2
}
