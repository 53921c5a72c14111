/// The smallest part of a format string.
enum Token: Equatable {
    /// A word that is not a keyword, or is marked as a key: `name`, `#select`.
    case key(String)
    /// A keyword, with its spelling in the format.
    case keyword(Keyword, String)
    /// `@count`, with the sign.
    case collectionOperator(String)
    /// `$name`, without the sign.
    case variable(String)
    case number(Value)
    /// A literal value of another kind.
    case constant(Value)
    case string(String)
    /// `%@`, `%K`, `%ld`, …
    case placeholder(Placeholder)
    case symbol(Symbol)
    case end
}

/// The conversion of a `%` placeholder, which determines the accepted type of the argument and its result.
enum Placeholder: Equatable {
    /// `%@`: any value.
    case value
    /// `%K`: a key path.
    case keyPath
    /// `%d`, `%lu`, `%x`, …: an integer.
    case integer
    /// `%f`, `%g`, …: a number.
    case floatingPoint
    /// `%c`: one character, as its number.
    case character
    /// `%s`: a string.
    case string
}

/// An operator or a sign.
enum Symbol: String {
    case equal = "=="
    case notEqual = "!="
    case lessThan = "<"
    case lessThanOrEqual = "<="
    case greaterThan = ">"
    case greaterThanOrEqual = ">="
    case and = "&&"
    case or = "||"
    case not = "!"
    case plus = "+"
    case minus = "-"
    case times = "*"
    case power = "**"
    case divide = "/"
    case modulus = "%%"
    case bitwiseAnd = "&"
    case bitwiseOr = "|"
    case bitwiseXor = "^"
    case complement = "~"
    case leftShift = "<<"
    case rightShift = ">>"
    case leftParenthesis = "("
    case rightParenthesis = ")"
    case leftBrace = "{"
    case rightBrace = "}"
    case leftBracket = "["
    case rightBracket = "]"
    case comma = ","
    case dot = "."
    case colon = ":"
    case assign = ":="

    /// The comparison that the symbol means.
    var comparison: ComparisonOperator? {
        switch self {
        case .equal: .equalTo
        case .notEqual: .notEqualTo
        case .lessThan: .lessThan
        case .lessThanOrEqual: .lessThanOrEqualTo
        case .greaterThan: .greaterThan
        case .greaterThanOrEqual: .greaterThanOrEqualTo
        default: nil
        }
    }
}
