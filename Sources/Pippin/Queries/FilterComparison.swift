import StoreSession

/// How a property is compared with a value.
enum FilterComparison: Equatable {
    case equal, notEqual, less, atMost, more, atLeast
    /// Texts, with what is ignored in them.
    case text(TextComparison, StringMatching)
    /// A list that is kept as JSON, with one of its elements.
    case element

    /// Whether it depends on the order of values.
    var isOfOrder: Bool {
        switch self {
        case .less, .atMost, .more, .atLeast: true
        case .equal, .notEqual, .text, .element: false
        }
    }

    var type: NSComparisonPredicate.Operator {
        switch self {
        case .equal: .equalTo
        case .notEqual: .notEqualTo
        case .less: .lessThan
        case .atMost: .lessThanOrEqualTo
        case .more: .greaterThan
        case .atLeast: .greaterThanOrEqualTo
        case .text(let comparison, _): comparison.type
        case .element: .contains
        }
    }

    var options: NSComparisonPredicate.Options {
        guard case .text(_, let matching) = self else { return [] }
        var options: NSComparisonPredicate.Options = []
        if matching.contains(.caseInsensitive) { options.insert(.caseInsensitive) }
        if matching.contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
        return options
    }

    /// The operator in the predicate language.
    var symbol: String {
        switch self {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .atMost: "<="
        case .more: ">"
        case .atLeast: ">="
        case .text(let comparison, let matching): comparison.rawValue + matching.suffix
        case .element: "CONTAINS"
        }
    }
}

/// How texts are compared.
enum TextComparison: String {
    case contains = "CONTAINS"
    case begins = "BEGINSWITH"
    case ends = "ENDSWITH"
    case equals = "=="
    case like = "LIKE"
    case matches = "MATCHES"

    var type: NSComparisonPredicate.Operator {
        switch self {
        case .contains: .contains
        case .begins: .beginsWith
        case .ends: .endsWith
        case .equals: .equalTo
        case .like: .like
        case .matches: .matches
        }
    }
}

/// How many members of a list must be selected.
enum MemberCondition: Equatable {
    /// Some, none, or all that there are.
    case any, none, all
    /// A number in a range; without an upper bound, at least that many.
    case count(from: Int, through: Int?)
}
