import Synchronization

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

/// A parsed format string, into which the arguments are then inserted.
final class FormatTemplate: Sendable {
    let format: String
    /// The tree with ``ExpressionTree/argument(_:)`` for each placeholder but `%K`.
    let skeleton: PredicateTree
    /// A number that no other template has.
    let identity: Int
    private let hasConstantParts: Bool
    private let hasSpelledValues: Bool
    /// Whether the argument list is used unchanged, because the only placeholder is `%@`.
    private let takesArgumentsAsTheyAre: Bool
    private let placeholders: [(kind: Placeholder, offset: Int)]

    private static let lastIdentity = Atomic<Int>(0)

    init(parsing format: String, arguments: [Value]) throws(PredicateFormatError) {
        var parser = try FormatParser(format, arguments: arguments)
        skeleton = try parser.parsePredicate()
        hasConstantParts = skeleton.hasConstantParts
        hasSpelledValues = skeleton.hasSpelledValues
        self.format = format
        placeholders = parser.placeholders.map { ($0.kind, $0.offset) }
        takesArgumentsAsTheyAre = placeholders.allSatisfy { $0.kind == .value }
        identity = FormatTemplate.lastIdentity.add(1, ordering: .relaxed).newValue
    }

    /// The indices of the arguments that are key paths.
    var keyPathIndices: [Int] {
        placeholders.indices.filter { placeholders[$0].kind == .keyPath }
    }

    /// The predicate with these arguments.
    func prepare(
        _ given: [Value], surplus: SurplusArguments = .refused
    ) throws(PredicateFormatError) -> PreparedPredicate {
        let arguments = surplus.taken(given, placeholders: placeholders.count)
        guard arguments.count == placeholders.count else { throw wrongCount(arguments.count) }
        if takesArgumentsAsTheyAre {
            return PreparedPredicate(
                skeleton: skeleton, identity: identity, arguments: arguments, hasConstantParts: hasConstantParts,
                hasSpelledValues: hasSpelledValues)
        }
        return PreparedPredicate(
            skeleton: skeleton, identity: identity,
            arguments: try convert(arguments, for: placeholders, in: format), hasConstantParts: hasConstantParts,
            hasSpelledValues: hasSpelledValues)
    }

    private func wrongCount(_ count: Int) -> PredicateFormatError {
        PredicateFormatError(
            format: format, byteOffset: placeholders.count > count ? placeholders[count].offset : nil,
            reason:
                "expected \(placeholders.count) argument\(placeholders.count == 1 ? "" : "s"), one a placeholder, found \(count)"
        )
    }
}

/// Converts each argument for its placeholder; those for `%K` are left out.
func convert(
    _ arguments: [Value], for placeholders: [(kind: Placeholder, offset: Int)], in format: String
) throws(PredicateFormatError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(arguments.count)
    for (argument, placeholder) in zip(arguments, placeholders) {
        func expected(_ what: String) -> PredicateFormatError {
            PredicateFormatError(
                format: format, byteOffset: placeholder.offset,
                reason: "this placeholder takes \(what), not \(argument.kindDescription); %@ takes any value")
        }
        switch placeholder.kind {
        case .keyPath: continue
        case .value: values.append(argument)
        case .integer, .character:
            if case .string(let text) = argument, placeholder.kind == .character,
                let scalar = text.unicodeScalars.first,
                text.unicodeScalars.count == 1
            {
                values.append(.integer(Int64(scalar.value)))
            } else if case .integer = argument {
                values.append(argument)
            } else if case .decimal(let number) = argument, argument.integerValue == nil, number.doubleValue >= 0x1p63 {
                values.append(argument)
            } else {
                throw expected("an integer")
            }
        case .floatingPoint:
            guard let number = argument.doubleValue else { throw expected("a number") }
            values.append(.double(number))
        case .string:
            guard case .string = argument else { throw expected("a string") }
            values.append(argument)
        }
    }
    return values
}
