import Foundation

extension ComparisonOperator {
    /// Whether the comparison of two strings holds. A store's SQL functions must use this, so that rows are found as
    /// objects are.
    ///
    /// `IN` checks whether the left string is a part of the right one; `BETWEEN` is false for strings.
    package func holds(_ left: String, _ right: String, _ options: StringOptions) -> Bool {
        let options = options.contains(.normalized) ? [] : options
        switch self {
        case .like: return LikePattern.cached(right, options: options).matches(left)
        case .matches: return MatchesPattern.cached(right, options: options)?.matches(left) ?? false
        case .between: return false
        default: break
        }
        if options.isEmpty { return holds(left, right) }
        return holds(left.folded(options), right.folded(options))
    }

    private func holds(_ left: String, _ right: String) -> Bool {
        switch self {
        case .equalTo: left.isLiterallyEqual(to: right)
        case .notEqualTo: !left.isLiterallyEqual(to: right)
        case .lessThan: left.literalComparison(with: right) == .orderedAscending
        case .lessThanOrEqualTo: left.literalComparison(with: right) != .orderedDescending
        case .greaterThan: left.literalComparison(with: right) == .orderedDescending
        case .greaterThanOrEqualTo: left.literalComparison(with: right) != .orderedAscending
        case .beginsWith: left.literallyBegins(with: right)
        case .endsWith: left.literallyEnds(with: right)
        case .contains: left.literallyContains(right)
        case .in: right.literallyContains(left)
        case .like, .matches, .between: false
        }
    }
}
