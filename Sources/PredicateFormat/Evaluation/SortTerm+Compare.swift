import Foundation

extension SortTerm.Comparison {
    /// The order of two values in a sort. It is total, so that sorting is well defined: `nil` comes first, then
    /// numbers, then the other kinds, each among themselves.
    package func compare(_ first: Value, _ second: Value) -> ComparisonResult {
        if case .string(let a) = first, case .string(let b) = second { return compare(a, b) }
        if let order = first.comparison(with: second) { return order }
        if case .object(let a) = first, case .object(let b) = second, let a = a.operand.orderKey,
            let b = b.operand.orderKey
        {
            return a < b ? .orderedAscending : a > b ? .orderedDescending : .orderedSame
        }
        let (firstRank, secondRank) = (first.sortRank, second.sortRank)
        return firstRank < secondRank ? .orderedAscending : firstRank > secondRank ? .orderedDescending : .orderedSame
    }

    /// The order of two strings. Collations of a SQL store must use this order, too.
    package func compare(_ first: String, _ second: String) -> ComparisonResult {
        switch self {
        case .plain: first.literalComparison(with: second)
        case .caseInsensitive:
            first.folded(.caseInsensitive).literalComparison(with: second.folded(.caseInsensitive))
        case .localized: first.compare(second, locale: .current)
        case .localizedCaseInsensitive: first.compare(second, options: .caseInsensitive, locale: .current)
        case .localizedStandard: first.localizedStandardCompare(second)
        }
    }
}

extension Value {
    fileprivate var sortRank: Int {
        switch self {
        case .null: 0
        case .integer, .double, .decimal: 1
        case .date: 2
        case .string: 3
        case .url: 4
        case .data: 5
        case .uuid: 6
        case .collection: 7
        case .object: 8
        }
    }
}
