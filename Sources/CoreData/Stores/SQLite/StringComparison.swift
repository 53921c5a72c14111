import Foundation

/// How texts are compared inside SQL: as evaluation in memory compares them.
enum StringComparison {
    /// Without case and diacritics: what `canonical:` gives.
    static func canonical(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }

    /// Whether `left word right` holds.
    static func holds(
        _ word: String, _ left: String, _ right: String, _ options: StringOptions
    ) -> Result<Bool, any Error> {
        let left = folded(left, options)
        let right = folded(right, options)
        switch word {
        case "=": return .success(left == right)
        case "<": return .success(left < right)
        case "<=": return .success(left <= right)
        case ">": return .success(left > right)
        case ">=": return .success(left >= right)
        case "BEGINSWITH": return .success(left.hasPrefix(right))
        case "ENDSWITH": return .success(left.hasSuffix(right))
        case "CONTAINS": return .success(right.isEmpty || left.contains(right))
        default: return .success(false)
        }
    }

    private static func folded(_ text: String, _ options: StringOptions) -> String {
        var folding: String.CompareOptions = []
        if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
        return folding.isEmpty ? text : text.folding(options: folding, locale: nil)
    }

    static func order(_ left: String, _ right: String, _ comparison: SortTerm.Comparison) -> ComparisonResult {
        switch comparison {
        case .plain: return left == right ? .orderedSame : (left < right ? .orderedAscending : .orderedDescending)
        case .caseInsensitive: return left.caseInsensitiveCompare(right)
        case .localized: return left.localizedCompare(right)
        case .localizedCaseInsensitive: return left.localizedCaseInsensitiveCompare(right)
        case .localizedStandard: return left.localizedStandardCompare(right)
        }
    }
}
