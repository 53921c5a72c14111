extension ExpressionTree {
    /// The expression as a format string, in Core Data's spelling.
    package var format: String { write().text }

    /// Like ``format``, except that whole numbers are written without a fraction, in lists, too, since comparisons
    /// ignore the type.
    var formatInComparison: String {
        switch self {
        case .constant(let value): value.formatInComparison
        case .aggregate(let elements): "{\(elements.map(\.formatInComparison).joined(separator: ", "))}"
        default: format
        }
    }

    /// How tightly an expression binds, as in the rules of `FormatParser+Expressions`.
    fileprivate enum Level: Int, Comparable {
        case assignment, sum, product, power, unary, postfix

        static func < (first: Level, second: Level) -> Bool { first.rawValue < second.rawValue }

        var next: Level { Level(rawValue: rawValue + 1) ?? .postfix }
    }

    /// The format of an operand that must bind at least that tightly.
    private func format(atLeast level: Level) -> String {
        let (text, own) = write()
        return own < level ? "(\(text))" : text
    }

    private func write() -> (text: String, level: Level) {
        switch self {
        case .constant(let value):
            let text = value.format
            return (text, text.hasPrefix("-") ? .unary : .postfix)
        case .argument: return ("%@", .postfix)
        case .evaluatedObject: return ("SELF", .postfix)
        case .keyPath(let keys): return (keys.keyPathFormat, .postfix)
        case .path(let origin, let keys):
            return ("\(origin.format(atLeast: .postfix)).\(keys.keyPathFormat)", .postfix)
        case .element(let collection, let index):
            return ("\(collection.format(atLeast: .postfix))[\(index.format)]", .postfix)
        // As the program wrote it.
        case .listed(let list, _): return list.write()
        case .variable(let name): return ("$\(name)", .postfix)
        case .assignment(let name, let value): return ("$\(name) := \(value.format)", .assignment)
        case .function(let function, let arguments): return write(function, arguments)
        case .call(let operand, let name, let arguments):
            // Core Data puts a space before the comma.
            let list = arguments.isEmpty ? "" : " , \(arguments.listFormat)"
            return ("FUNCTION(\(operand.format), \(name.quoted)\(list))", .postfix)
        case .cast(let expression, let type): return ("CAST(\([expression, type].listFormat))", .postfix)
        case .aggregate(let elements): return ("{\(elements.listFormat)}", .postfix)
        case .subquery(let collection, let variable, let predicate):
            return ("SUBQUERY(\(collection.format), $\(variable), \(predicate.format))", .postfix)
        case .conditional(let condition, let first, let second):
            return ("TERNARY(\(condition.format), \(first.format), \(second.format))", .postfix)
        case .set(let operation, let left, let right):
            return binary(operation.rawValue, .sum, left, right)
        case .anyKey: return ("ANYKEY", .postfix)
        case .fetch(let request, let context, let countOnly):
            return ("FETCH(\(request.format), \(context.format), \(countOnly ? "YES" : "NO"))", .postfix)
        case .block(_, let arguments):
            return ("BLOCK(\(arguments.listFormat))", .postfix)
        }
    }

    private func write(_ function: BuiltInFunction, _ arguments: [ExpressionTree]) -> (text: String, level: Level) {
        if arguments.count == 2, let (symbol, level) = function.infix {
            return binary(symbol, level, arguments[0], arguments[1])
        }
        if let symbol = function.prefix, let operand = arguments.first, !operand.isConstant {
            return ("\(symbol)\(operand.format(atLeast: .unary))", .unary)
        }
        if function == .search, arguments.count == 2, case .aggregate(let texts) = arguments[0], !texts.isEmpty {
            return ("SEARCH(\((texts + [arguments[1]]).listFormat))", .postfix)
        }
        return ("\(function.rawValue)(\(arguments.listFormat))", .postfix)
    }

    private func binary(
        _ symbol: String, _ level: Level, _ left: ExpressionTree, _ right: ExpressionTree
    ) -> (text: String, level: Level) {
        ("\(left.format(atLeast: level)) \(symbol) \(right.format(atLeast: level.next))", level)
    }
}

extension BuiltInFunction {
    /// The sign for a function that is written between two operands.
    fileprivate var infix: (String, ExpressionTree.Level)? {
        switch self {
        case .add: ("+", .sum)
        case .subtract: ("-", .sum)
        case .bitwiseOr: ("|", .sum)
        case .bitwiseXor: ("^", .sum)
        case .multiply: ("*", .product)
        case .divide: ("/", .product)
        case .bitwiseAnd: ("&", .product)
        case .leftShift: ("<<", .product)
        case .rightShift: (">>", .product)
        case .power: ("**", .power)
        default: nil
        }
    }

    /// The sign for a function that is written before an operand.
    fileprivate var prefix: String? {
        switch self {
        case .negate: "-"
        case .onesComplement: "~"
        default: nil
        }
    }
}

extension ElementIndex {
    fileprivate var format: String {
        switch self {
        case .first: "FIRST"
        case .last: "LAST"
        case .size: "SIZE"
        case .at(let index): index.format
        }
    }
}

extension [ExpressionTree] {
    fileprivate var listFormat: String {
        map(\.format).joined(separator: ", ")
    }
}

extension [String] {
    /// The keys of a path with dots between them; keys that are not plain words are written so that they parse.
    fileprivate var keyPathFormat: String {
        map(\.keyFormat).joined(separator: ".")
    }
}

extension String {
    fileprivate var keyFormat: String {
        if CollectionOperator(rawValue: self) != nil { return self }
        guard isPlainWord else { return "#" + quoted }
        guard let keyword = Keyword(word: self) else { return self }
        // Keywords between brackets are plain keys elsewhere, but Core Data marks them all the same.
        switch keyword {
        case .first, .last, .size: return "#" + self
        default: return keyword.mayBeKey ? self : "#" + self
        }
    }

    private var isPlainWord: Bool {
        guard let first = utf8.first, !(first >= 0x30 && first <= 0x39) else { return false }
        return utf8.allSatisfy {
            ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A || $0 == 0x5F || $0 >= 0x80 || $0 >= 0x30 && $0 <= 0x39
        }
    }

    /// The string between quotation marks.
    var quoted: String {
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
