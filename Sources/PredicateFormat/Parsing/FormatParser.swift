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
                default: throw error("\"\(letter)\" is no option of a comparison; expected c, d, n or l")
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
