import Foundation

/// Parses a format string into a tree, by recursive descent, without backtracking.
///
///     or          and (("OR" | "||") and)*
///     and         not (("AND" | "&&") not)*
///     not         ("NOT" | "!")* comparison
///     comparison  ("ANY" | "SOME" | "ALL" | "NONE")? sum (operator options? sum)?
///     sum, …      see `FormatParser+Expressions`
///
/// A parenthesis may contain a predicate or an expression, and which one is only clear after it. So every rule returns
/// a ``Node``, and a caller that needs one kind requires it.
struct FormatParser {
    var tokenizer: Tokenizer
    var token: Token = .end
    /// Where the previous token ends, which is the position of an error about what was expected.
    private(set) var previousEnd = 0
    /// The caller's arguments, which are only read for `%K`.
    let arguments: [Value]
    /// The placeholders, in order.
    var placeholders: [PlaceholderUse] = []
    /// How many of the placeholders have values.
    var valueCount = 0
    /// The nesting of parentheses and similar rules that are being parsed.
    private var nesting = 0

    /// Deeper than anyone nests formats, and safe for any thread's stack.
    static let maximumDepth = 200

    init(_ format: String, arguments: [Value]) throws(PredicateFormatError) {
        tokenizer = Tokenizer(format)
        self.arguments = arguments
        token = try tokenizer.next()
    }

    /// Parses the whole string as a predicate.
    mutating func parsePredicate() throws(PredicateFormatError) -> PredicateTree {
        if token == .end { throw error("expected a predicate, the format string is empty") }
        let node = try or()
        let tree = try predicate(node)
        try expectEnd("\"AND\", \"OR\" or the end")
        return tree
    }

    /// Parses the whole string as an expression.
    mutating func parseExpression() throws(PredicateFormatError) -> ExpressionTree {
        if token == .end { throw error("expected an expression, the format string is empty") }
        let node = try or()
        let tree = try expression(node)
        try expectEnd("an operator or the end")
        return tree
    }

    // MARK: Predicates

    mutating func or() throws(PredicateFormatError) -> Node {
        var node = try and()
        guard isOr else { return node }
        var parts = [try predicate(node)]
        while isOr {
            try advance()
            let next = try and()
            parts.append(try predicate(next))
            node.depth = max(node.depth, next.depth)
        }
        return try self.node(.predicate(.or(parts)), at: node.start, over: node.depth)
    }

    private mutating func and() throws(PredicateFormatError) -> Node {
        var node = try not()
        guard isAnd else { return node }
        var parts = [try predicate(node)]
        while isAnd {
            try advance()
            let next = try not()
            parts.append(try predicate(next))
            node.depth = max(node.depth, next.depth)
        }
        return try self.node(.predicate(.and(parts)), at: node.start, over: node.depth)
    }

    private mutating func not() throws(PredicateFormatError) -> Node {
        let start = tokenizer.tokenStart
        var count = 0
        while isNot {
            count += 1
            try advance()
        }
        var node = try comparison()
        for _ in 0..<count {
            node = try self.node(.predicate(.not(try predicate(node))), at: start, over: node.depth)
        }
        return node
    }

    private mutating func comparison() throws(PredicateFormatError) -> Node {
        let start = tokenizer.tokenStart
        var modifier = ComparisonModifier.direct
        var isNegated = false
        if case .keyword(let keyword, let spelling) = token {
            switch keyword {
            case .any, .some: modifier = .any
            case .all: modifier = .all
            case .none: (modifier, isNegated) = (.any, true)
            default: break
            }
            if modifier != .direct {
                try advance()
                if case .keyword = token, comparisonOperator != nil {
                    throw error("expected a key path after \"\(spelling)\"")
                }
            }
        }
        let left = try sum()
        guard let comparison = comparisonOperator else {
            if modifier != .direct { throw error("expected a comparison operator") }
            return left
        }
        let leftExpression = try expression(left)
        try advance()
        let options = try stringOptions()
        let right = try sum()
        let tree = PredicateTree.comparison(
            ComparisonTree(
                leftExpression, comparison, try expression(right), modifier: modifier, options: options))
        let depth = max(left.depth, right.depth)
        return try node(.predicate(isNegated ? .not(tree) : tree), at: start, over: depth)
    }

    private mutating func stringOptions() throws(PredicateFormatError) -> StringOptions {
        guard token == .symbol(.leftBracket) else { return [] }
        try advance()
        var options: StringOptions = []
        while token != .symbol(.rightBracket) {
            let letters: String
            switch token {
            case .key(let word), .keyword(_, let word): letters = word
            default: throw error("expected the options c, d, n or l, and \"]\"")
            }
            for letter in letters {
                switch letter {
                case "c", "C": options.insert(.caseInsensitive)
                case "d", "D": options.insert(.diacriticInsensitive)
                case "n", "N": options.insert(.normalized)
                case "l", "L": options.insert(.localeSensitive)
                default: throw error("\"\(letter)\" is not an option of a comparison; expected c, d, n or l")
                }
            }
            try advance()
        }
        try advance()
        return options
    }

    private var isOr: Bool { isKeyword(.or) || token == .symbol(.or) }
    private var isAnd: Bool { isKeyword(.and) || token == .symbol(.and) }
    private var isNot: Bool { isKeyword(.not) || token == .symbol(.not) }

    private var comparisonOperator: ComparisonOperator? {
        switch token {
        case .symbol(let symbol): symbol.comparison
        case .keyword(let keyword, _): keyword.comparison
        default: nil
        }
    }

    // MARK: Tokens

    func isKeyword(_ keyword: Keyword) -> Bool {
        if case .keyword(let found, _) = token { found == keyword } else { false }
    }

    mutating func advance() throws(PredicateFormatError) {
        previousEnd = tokenizer.position
        token = try tokenizer.next()
    }

    mutating func expect(_ symbol: Symbol) throws(PredicateFormatError) {
        guard token == .symbol(symbol) else { throw error("expected \"\(symbol.rawValue)\"") }
        try advance()
    }

    private func expectEnd(_ expected: String) throws(PredicateFormatError) {
        if token != .end { throw error("expected \(expected)") }
    }

    /// An error at the current token: what was expected and, added here, what was found.
    func error(_ reason: String) -> PredicateFormatError {
        let found = token == .end ? "the end" : "\"\(tokenizer.tokenText)\""
        return tokenizer.error("\(reason), found \(found)", at: tokenizer.tokenStart)
    }

    // MARK: Nodes

    /// A node above children of some depth; it throws if the tree gets too deep to traverse.
    func node(
        _ content: Node.Content, at start: Int, over depth: Int
    ) throws(PredicateFormatError) -> Node {
        if depth >= Self.maximumDepth { throw tooDeep(at: start) }
        return Node(content: content, depth: depth + 1, start: start)
    }

    /// Runs a rule one level deeper.
    mutating func nested<Result>(
        _ rule: (inout FormatParser) throws(PredicateFormatError) -> Result
    ) throws(PredicateFormatError) -> Result {
        nesting += 1
        defer { nesting -= 1 }
        if nesting > Self.maximumDepth { throw tooDeep(at: tokenizer.tokenStart) }
        return try rule(&self)
    }

    private func tooDeep(at offset: Int) -> PredicateFormatError {
        tokenizer.error("more than \(Self.maximumDepth) levels of nesting; expected a simpler predicate", at: offset)
    }

    func predicate(_ node: Node) throws(PredicateFormatError) -> PredicateTree {
        switch node.content {
        case .predicate(let tree): return tree
        // What is true or false by itself.
        case .expression(let tree) where tree.isSearch:
            return .comparison(ComparisonTree(tree, .equalTo, .constant(.integer(1))))
        case .expression: throw error("expected a comparison operator such as ==, > or CONTAINS")
        }
    }

    func expression(_ node: Node) throws(PredicateFormatError) -> ExpressionTree {
        switch node.content {
        case .expression(let tree): return tree
        case .predicate: throw tokenizer.error("expected a value here, found a predicate", at: node.start)
        }
    }
}

/// The result of a grammar rule.
struct Node {
    enum Content {
        case predicate(PredicateTree)
        case expression(ExpressionTree)
    }

    var content: Content
    /// How many levels the tree has.
    var depth: Int
    /// The position of its first token.
    var start: Int
}

/// A placeholder in a format string, whose argument must fit it.
struct PlaceholderUse {
    let kind: Placeholder
    /// The position of the placeholder.
    let offset: Int
}

/// An error in a format string or its arguments, with its position.
///
/// ```
/// Cannot parse the predicate format at character 8: expected a value, found "=".
///     name = = 1
///            ^
/// ```
public struct PredicateFormatError: LocalizedError, CustomNSError, CustomStringConvertible, Equatable {
    /// The format string.
    public let format: String
    /// The position of the error in the format string, as a count of characters before it; nil if the error is in the
    /// arguments as a whole.
    public let position: Int?
    /// What was expected there, and what was found.
    public let reason: String

    init(format: String, byteOffset: Int?, reason: String) {
        self.format = format
        self.reason = reason
        guard let byteOffset else {
            position = nil
            return
        }
        position = String(decoding: format.utf8.prefix(byteOffset), as: UTF8.self).count
    }

    /// The reason, with the position marked under the format string.
    public var description: String {
        guard let position else {
            return "Cannot use the predicate format: \(reason).\n    \(excerpt(around: 0).line)"
        }
        let excerpt = excerpt(around: position)
        let mark = String(repeating: " ", count: excerpt.column) + "^"
        return
            "Cannot parse the predicate format at character \(position + 1): \(reason).\n    \(excerpt.line)\n    \(mark)"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// `NSCocoaErrorDomain`.
    public static var errorDomain: String { NSCocoaErrorDomain }

    /// `NSFormattingError`.
    public var errorCode: Int { 2048 }

    /// The description, under `NSLocalizedDescriptionKey`.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }

    /// One line with the position in it, of at most about 120 characters, however long the format string is.
    private func excerpt(around position: Int) -> (line: String, column: Int) {
        let start = format.index(format.startIndex, offsetBy: max(0, position - 60), limitedBy: format.endIndex)
        let tail = format[(start ?? format.endIndex)...]
        let line = tail.prefix(120).map { $0.isNewline || $0 == "\t" ? " " : $0 }
        let before = position > 60 ? "…" : ""
        let after = tail.count > 120 ? "…" : ""
        return (before + String(line) + after, min(position, 60) + before.count)
    }
}

/// The tree of a predicate's format string.
package func predicateTree(
    parsing format: String, arguments: [Value] = []
) throws(PredicateFormatError) -> PredicateTree {
    try FormatTemplate(parsing: format, arguments: arguments).prepare(arguments).tree
}

/// The tree of an expression's format string.
package func expressionTree(
    parsing format: String, arguments: [Value] = [], surplus: SurplusArguments = .refused
) throws(PredicateFormatError) -> ExpressionTree {
    var parser = try FormatParser(format, arguments: arguments)
    let skeleton = try parser.parseExpression()
    let placeholders = parser.placeholders.map { ($0.kind, $0.offset) }
    let arguments = surplus.taken(arguments, placeholders: placeholders.count)
    guard arguments.count == placeholders.count else {
        throw PredicateFormatError(
            format: format, byteOffset: nil,
            reason:
                "expected \(placeholders.count) argument\(placeholders.count == 1 ? "" : "s"), one a placeholder, found \(arguments.count)"
        )
    }
    return skeleton.replacingArguments(with: try convert(arguments, for: placeholders, in: format))
}

/// What becomes of arguments that have no placeholder.
package enum SurplusArguments {
    case refused
    /// As Core Data ignores them, which cannot count the arguments of a C function.
    case ignored

    func taken(_ arguments: [Value], placeholders: Int) -> [Value] {
        self == .ignored && arguments.count > placeholders ? Array(arguments.prefix(placeholders)) : arguments
    }
}
