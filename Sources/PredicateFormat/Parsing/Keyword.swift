/// A word with a meaning in format strings, in any case. As a key it is written with a number sign: `#select`.
enum Keyword: String, CaseIterable {
    case and = "AND"
    case or = "OR"
    case not = "NOT"
    case any = "ANY"
    case some = "SOME"
    case all = "ALL"
    case none = "NONE"
    case `in` = "IN"
    case like = "LIKE"
    case matches = "MATCHES"
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case between = "BETWEEN"
    case null = "NULL"
    case `nil` = "NIL"
    case `true` = "TRUE"
    case `false` = "FALSE"
    case yes = "YES"
    case no = "NO"
    case `self` = "SELF"
    case truePredicate = "TRUEPREDICATE"
    case falsePredicate = "FALSEPREDICATE"
    case anyKey = "ANYKEY"
    case subquery = "SUBQUERY"
    case cast = "CAST"
    case function = "FUNCTION"
    case ternary = "TERNARY"
    case fetch = "FETCH"
    case union = "UNION"
    case intersect = "INTERSECT"
    case minus = "MINUS"
    // Keywords between brackets, and plain keys elsewhere.
    case first = "FIRST"
    case last = "LAST"
    case size = "SIZE"

    /// The keyword for a word, or nil.
    init?(word: String) {
        guard word.utf8.count <= 14, word.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        self.init(rawValue: word.uppercased())
    }

    /// Whether the word is also accepted as a key, without a number sign, where a key is possible.
    var mayBeKey: Bool {
        switch self {
        case .first, .last, .size, .subquery, .cast, .function, .ternary, .fetch, .union, .intersect, .minus: true
        default: false
        }
    }

    /// The comparison that the word names.
    var comparison: ComparisonOperator? {
        switch self {
        case .in: .in
        case .like: .like
        case .matches: .matches
        case .contains: .contains
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .between: .between
        default: nil
        }
    }
}
