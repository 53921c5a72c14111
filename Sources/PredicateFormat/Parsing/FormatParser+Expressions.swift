import Foundation

// The rules for expressions, from the loosest binding to the tightest:
//
//     sum       product (("+" | "-" | "|" | "^" | "UNION" | "INTERSECT" | "MINUS") product)*
//     product   power (("*" | "/" | "%%" | "&" | "<<" | ">>") power)*
//     power     unary ("**" unary)*
//     unary     ("-" | "~")* postfix
//     postfix   primary ("." key | "." "$" variable | "[" index "]")*
extension FormatParser {
    mutating func sum() throws(PredicateFormatError) -> Node {
        var left = try product()
        while let operation = sumOperation {
            try advance()
            let right = try product()
            left = try combine(operation, left, right)
        }
        return left
    }

    private mutating func product() throws(PredicateFormatError) -> Node {
        var left = try power()
        while let function = productFunction {
            try advance()
            let right = try power()
            left = try combine(.function(function), left, right)
        }
        return left
    }

    private mutating func power() throws(PredicateFormatError) -> Node {
        var left = try unary()
        while token == .symbol(.power) {
            try advance()
            let right = try unary()
            left = try combine(.function(.power), left, right)
        }
        return left
    }

    private mutating func unary() throws(PredicateFormatError) -> Node {
        let start = tokenizer.tokenStart
        var functions: [BuiltInFunction] = []
        while true {
            if token == .symbol(.minus) {
                functions.append(.negate)
            } else if token == .symbol(.complement) {
                functions.append(.onesComplement)
            } else {
                break
            }
            if functions.count > Self.maximumDepth { throw error("expected a value") }
            try advance()
        }
        var node = try postfix()
        for function in functions.reversed() {
            let operand = try expression(node)
            if function == .negate, case .constant(let value) = operand, let negative = value.negated {
                node.content = .expression(.constant(negative))
            } else {
                node = try self.node(.expression(.function(function, [operand])), at: start, over: node.depth)
            }
        }
        return node
    }

    private enum BinaryOperation {
        case function(BuiltInFunction)
        case set(SetOperation)
    }

    private var sumOperation: BinaryOperation? {
        switch token {
        case .symbol(.plus): .function(.add)
        case .symbol(.minus): .function(.subtract)
        case .symbol(.bitwiseOr): .function(.bitwiseOr)
        case .symbol(.bitwiseXor): .function(.bitwiseXor)
        case .keyword(.union, _): .set(.union)
        case .keyword(.intersect, _): .set(.intersect)
        case .keyword(.minus, _): .set(.minus)
        default: nil
        }
    }

    private var productFunction: BuiltInFunction? {
        switch token {
        case .symbol(.times): .multiply
        case .symbol(.divide): .divide
        case .symbol(.modulus): .modulus
        case .symbol(.bitwiseAnd): .bitwiseAnd
        case .symbol(.leftShift): .leftShift
        case .symbol(.rightShift): .rightShift
        default: nil
        }
    }

    private func combine(
        _ operation: BinaryOperation, _ left: Node, _ right: Node
    ) throws(PredicateFormatError) -> Node {
        let first = try expression(left)
        let second = try expression(right)
        let tree: ExpressionTree =
            switch operation {
            case .function(let function): .function(function, [first, second])
            case .set(let operation): .set(operation, first, second)
            }
        return try node(.expression(tree), at: left.start, over: max(left.depth, right.depth))
    }

    // MARK: Keys and indices after a value

    private mutating func postfix() throws(PredicateFormatError) -> Node {
        var node = try primary()
        while true {
            if token == .symbol(.dot) {
                try advance()
                if case .variable(let name) = token {
                    try advance()
                    let index = ElementIndex.at(.variable(name))
                    node = try self.node(
                        .expression(.element(of: try expression(node), at: index)), at: node.start, over: node.depth)
                    continue
                }
                let keys = try keysAfterDot()
                let tree = try expression(node).appending(keys: keys)
                // More keys extend the existing path; only the first ones make the tree deeper.
                let isDeeper = if case .path = try expression(node) { false } else { true }
                if isDeeper {
                    node = try self.node(.expression(tree), at: node.start, over: node.depth)
                } else {
                    node.content = .expression(tree)
                }
            } else if token == .symbol(.leftBracket) {
                node = try element(of: node)
            } else {
                return node
            }
        }
    }

    /// All the keys of a path after its first dot.
    private mutating func keysAfterDot() throws(PredicateFormatError) -> [String] {
        var keys = try key()
        while token == .symbol(.dot), !tokenizer.isAtVariable {
            try advance()
            keys += try key()
        }
        return keys
    }

    private mutating func key() throws(PredicateFormatError) -> [String] {
        let keys: [String]
        switch token {
        case .key(let key): keys = [key]
        // After a dot, only a key is possible.
        case .keyword(_, let spelling): keys = [spelling]
        case .collectionOperator(let name): keys = [try collectionOperator(name)]
        case .placeholder(.keyPath): keys = try keyPathArgument()
        default: throw error("expected a key after \".\"")
        }
        try advance()
        return keys
    }

    func collectionOperator(_ name: String) throws(PredicateFormatError) -> String {
        if CollectionOperator(rawValue: name) != nil { return name }
        let known = CollectionOperator.allCases.map(\.rawValue).joined(separator: ", ")
        throw error("expected one of the collection operators \(known)")
    }

    private mutating func element(of node: Node) throws(PredicateFormatError) -> Node {
        let collection = try expression(node)
        try advance()
        var index: ElementIndex?
        var depth = node.depth
        if case .keyword(let keyword, let spelling) = token {
            switch keyword {
            case .first: index = .first
            case .last: index = .last
            case .size: index = .size
            default: break
            }
            if index != nil {
                try advance()
                // `[size + 1]`: the word is a key after all.
                if token != .symbol(.rightBracket) {
                    throw error("expected \"]\" after \(spelling)")
                }
            }
        }
        if index == nil {
            let inner = try nested { (parser) throws(PredicateFormatError) in try parser.sum() }
            index = .at(try expression(inner))
            depth = max(depth, inner.depth)
        }
        guard token == .symbol(.rightBracket), let index else { throw error("expected \"]\"") }
        try advance()
        return try self.node(.expression(.element(of: collection, at: index)), at: node.start, over: depth)
    }
}

extension ExpressionTree {
    /// The expression with more keys after it.
    package func appending(keys more: [String]) -> ExpressionTree {
        switch self {
        case .evaluatedObject: .keyPath(more)
        case .keyPath(let keys): .keyPath(keys + more)
        case .path(let origin, let keys): .path(from: origin, keys + more)
        default: .path(from: self, more)
        }
    }
}

extension Value {
    /// The number with its sign reversed; nil for anything but a number.
    fileprivate var negated: Value? {
        switch self {
        case .integer(let value):
            let (negative, overflow) = Int64(0).subtractingReportingOverflow(value)
            return overflow ? nil : .integer(negative)
        case .double(let value): return .double(-value)
        case .decimal(let value):
            let negative = NSDecimalNumber.zero.subtracting(value)
            return Int64(negative.stringValue).map { .integer($0) } ?? .decimal(negative)
        default: return nil
        }
    }
}
