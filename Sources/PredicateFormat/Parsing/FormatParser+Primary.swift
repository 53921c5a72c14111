// The values that an expression is made of.
extension FormatParser {
    mutating func primary() throws(PredicateFormatError) -> Node {
        let start = tokenizer.tokenStart
        switch token {
        case .number(let value), .constant(let value): return try leaf(.constant(value))
        case .string(let text): return try leaf(.constant(.string(text)))
        case .variable(let name): return try variable(name)
        case .placeholder(.keyPath): return try leaf(.keys(try keyPathArgument().withoutSelf))
        case .placeholder(let kind): return try leaf(valueArgument(kind))
        case .collectionOperator(let name): return try leaf(.keyPath([try collectionOperator(name)]))
        case .key(let name):
            try advance()
            if token == .symbol(.leftParenthesis) || token == .symbol(.colon) {
                return try function(name, at: start)
            }
            return try node(.expression(.keyPath([name])), at: start, over: 0)
        case .keyword(let keyword, let spelling): return try word(keyword, spelling, at: start)
        case .symbol(.leftParenthesis): return try parenthesis()
        case .symbol(.leftBrace): return try aggregate()
        default: throw error("expected a value")
        }
    }

    /// `$name`, or `$name := expression`.
    private mutating func variable(_ name: String) throws(PredicateFormatError) -> Node {
        let variable = try leaf(.variable(name))
        guard token == .symbol(.assign) else { return variable }
        let value = try nested { (parser) throws(PredicateFormatError) in
            try parser.advance()
            return try parser.sum()
        }
        return try node(.expression(.assignment(name, try expression(value))), at: variable.start, over: value.depth)
    }

    private mutating func leaf(_ tree: ExpressionTree) throws(PredicateFormatError) -> Node {
        let start = tokenizer.tokenStart
        try advance()
        return try node(.expression(tree), at: start, over: 0)
    }

    // MARK: Keywords

    private mutating func word(
        _ keyword: Keyword, _ spelling: String, at start: Int
    ) throws(PredicateFormatError) -> Node {
        switch keyword {
        case .null, .nil: return try leaf(.constant(.null))
        case .true, .yes: return try leaf(.constant(.integer(1)))
        case .false, .no: return try leaf(.constant(.integer(0)))
        case .self: return try leaf(.evaluatedObject)
        case .anyKey: return try leaf(.anyKey)
        case .truePredicate, .falsePredicate:
            try advance()
            return try node(.predicate(.constant(keyword == .truePredicate)), at: start, over: 0)
        case _ where keyword.mayBeKey:
            try advance()
            guard token == .symbol(.leftParenthesis) else {
                return try node(.expression(.keyPath([spelling])), at: start, over: 0)
            }
            return try nested { (parser) throws(PredicateFormatError) in
                try parser.construct(keyword, spelling, at: start)
            }
        default:
            throw error("expected a value; a key that is a reserved word is written #\(spelling)")
        }
    }

    private mutating func construct(
        _ keyword: Keyword, _ spelling: String, at start: Int
    ) throws(PredicateFormatError) -> Node {
        switch keyword {
        case .subquery: return try subquery(at: start)
        case .cast: return try cast(at: start)
        case .function: return try call(at: start)
        case .ternary: return try conditional(at: start)
        case .fetch: return try fetch(at: start)
        default: return try function(spelling, at: start)
        }
    }

    /// `SUBQUERY(collection, $variable, predicate)`
    private mutating func subquery(at start: Int) throws(PredicateFormatError) -> Node {
        try advance()
        let collection = try sum()
        try expect(.comma)
        guard case .variable(let variable) = token else { throw error("expected a variable such as $item") }
        try advance()
        try expect(.comma)
        let condition = try or()
        let predicate = try predicate(condition)
        try expect(.rightParenthesis)
        return try node(
            .expression(.subquery(of: try expression(collection), variable: variable, predicate)), at: start,
            over: max(collection.depth, condition.depth))
    }

    /// `CAST(expression, "type")`; for a constant, the converted constant.
    private mutating func cast(at start: Int) throws(PredicateFormatError) -> Node {
        try advance()
        let operand = try sum()
        try expect(.comma)
        let type = try sum()
        let typeTree = try expression(type)
        let operandTree = try expression(operand)
        if case .constant(.string(let name)) = typeTree, Value.castTypes[name] == nil,
            token == .symbol(.rightParenthesis)
        {
            let known = Value.castTypes.keys.sorted().joined(separator: ", ")
            throw tokenizer.error("\"\(name)\" is not a type to cast to; expected one of \(known)", at: type.start)
        }
        try expect(.rightParenthesis)
        if case .constant(.string(let name)) = typeTree, case .constant(let value) = operandTree,
            let result = value.cast(to: name)
        {
            return try node(.expression(.constant(result)), at: start, over: 0)
        }
        return try node(
            .expression(.cast(operandTree, to: typeTree)), at: start, over: max(operand.depth, type.depth))
    }

    /// `FUNCTION(operand, "name:", arguments…)`
    private mutating func call(at start: Int) throws(PredicateFormatError) -> Node {
        try advance()
        let operand = try sum()
        try expect(.comma)
        let name: String
        switch token {
        case .string(let text): name = text
        case .placeholder: name = try keyPathArgument().joined(separator: ".")
        default: throw error("expected the function's name as a string")
        }
        try advance()
        var arguments: [ExpressionTree] = []
        var depth = operand.depth
        while token == .symbol(.comma) {
            try advance()
            let argument = try sum()
            arguments.append(try expression(argument))
            depth = max(depth, argument.depth)
        }
        try expect(.rightParenthesis)
        let target = try expression(operand)
        if let function = BuiltInFunction(rawValue: name), case .constant(.string(Self.functionsClass)) = target,
            function.argumentCount == arguments.count
        {
            return try node(.expression(.function(function, arguments)), at: start, over: depth)
        }
        return try node(.expression(.call(on: target, name: name, arguments: arguments)), at: start, over: depth)
    }

    private static let functionsClass = "NSExpression"

    /// `TERNARY(predicate, expression, expression)`
    private mutating func conditional(at start: Int) throws(PredicateFormatError) -> Node {
        try advance()
        let condition = try or()
        let predicate = try predicate(condition)
        try expect(.comma)
        let first = try sum()
        try expect(.comma)
        let second = try sum()
        try expect(.rightParenthesis)
        let tree = ExpressionTree.conditional(
            predicate, then: try expression(first), otherwise: try expression(second))
        return try node(.expression(tree), at: start, over: max(condition.depth, first.depth, second.depth))
    }

    /// `FETCH(request, context, NO)`
    private mutating func fetch(at start: Int) throws(PredicateFormatError) -> Node {
        try advance()
        let request = try sum()
        try expect(.comma)
        let context = try sum()
        try expect(.comma)
        let flag = try sum()
        guard case .constant(.integer(let countOnly)) = try expression(flag) else {
            throw error("expected YES or NO")
        }
        try expect(.rightParenthesis)
        let tree = ExpressionTree.fetch(
            try expression(request), in: try expression(context), countOnly: countOnly != 0)
        return try node(.expression(tree), at: start, over: max(request.depth, context.depth))
    }

    // MARK: Functions

    /// `name(arguments)`, where the name may have colons: `raise:toPower:(2, 3)`. The first word has been read.
    private mutating func function(_ first: String, at start: Int) throws(PredicateFormatError) -> Node {
        var name = first
        while token == .symbol(.colon) {
            name += ":"
            try advance()
            switch token {
            case .key(let word), .keyword(_, let word):
                name += word
                try advance()
            default: break
            }
        }
        let known = BuiltInFunction(rawValue: name) ?? BuiltInFunction(rawValue: name + ":")
        let overloaded = BuiltInFunction.otherNames[name] ?? known
        guard var function = overloaded else {
            throw tokenizer.error(
                "\"\(name)\" is not a function; expected one of "
                    + BuiltInFunction.allCases.map(\.rawValue).joined(separator: ", "), at: start)
        }
        guard token == .symbol(.leftParenthesis) else { throw error("expected \"(\" after the function's name") }
        let (arguments, depth) = try nested { (parser) throws(PredicateFormatError) in
            try parser.list(from: .leftParenthesis, to: .rightParenthesis)
        }
        if function == .search, !name.contains(":"), let query = arguments.last, arguments.count > 1 {
            let texts = ExpressionTree.collection(of: Array(arguments.dropLast()))
            return try node(.expression(.function(.search, [texts, query])), at: start, over: depth + 1)
        }
        if function == .random, arguments.count == 1 { function = .randomBelow }
        if function.takesCollection, arguments.count > 1 {
            return try node(
                .expression(.function(function, [.collection(of: arguments)])), at: start, over: depth + 1)
        }
        guard arguments.count == function.argumentCount else {
            throw tokenizer.error(
                "\(function.rawValue) takes \(function.argumentCount) arguments, found \(arguments.count)", at: start)
        }
        return try node(.expression(.function(function, arguments)), at: start, over: depth)
    }

    // MARK: Brackets

    private mutating func parenthesis() throws(PredicateFormatError) -> Node {
        try nested { (parser) throws(PredicateFormatError) in
            try parser.advance()
            let node = try parser.or()
            try parser.expect(.rightParenthesis)
            return node
        }
    }

    private mutating func aggregate() throws(PredicateFormatError) -> Node {
        let start = tokenizer.tokenStart
        let (elements, depth) = try nested { (parser) throws(PredicateFormatError) in
            try parser.list(from: .leftBrace, to: .rightBrace)
        }
        return try node(.expression(.collection(of: elements)), at: start, over: depth)
    }

    /// Expressions between two symbols, separated by commas.
    private mutating func list(
        from opening: Symbol, to closing: Symbol
    ) throws(PredicateFormatError) -> ([ExpressionTree], depth: Int) {
        try expect(opening)
        var elements: [ExpressionTree] = []
        var depth = 0
        while token != .symbol(closing) {
            if !elements.isEmpty {
                guard token == .symbol(.comma) else { throw error("expected \",\" or \"\(closing.rawValue)\"") }
                try advance()
            }
            let element = try sum()
            elements.append(try expression(element))
            depth = max(depth, element.depth)
        }
        try advance()
        return (elements, depth)
    }

    // MARK: Placeholders

    /// The expression for a placeholder with a value.
    private mutating func valueArgument(_ kind: Placeholder) -> ExpressionTree {
        placeholders.append(PlaceholderUse(kind: kind, offset: tokenizer.tokenStart))
        defer { valueCount += 1 }
        return .argument(valueCount)
    }

    /// The keys for a `%K`, which must be known now, since they are part of the predicate's structure.
    mutating func keyPathArgument() throws(PredicateFormatError) -> [String] {
        let index = placeholders.count
        let offset = tokenizer.tokenStart
        placeholders.append(PlaceholderUse(kind: .keyPath, offset: offset))
        guard index < arguments.count else {
            throw tokenizer.error("there is no argument for this placeholder; \(arguments.count) are given", at: offset)
        }
        guard case .string(let path) = arguments[index] else {
            throw tokenizer.error(
                "%K takes a key path as a string, not \(arguments[index].kindDescription)", at: offset)
        }
        let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if keys.contains("") {
            throw tokenizer.error("\"\(path)\" is not a key path: keys are separated by single dots", at: offset)
        }
        return keys
    }
}
