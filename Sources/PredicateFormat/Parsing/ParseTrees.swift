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
