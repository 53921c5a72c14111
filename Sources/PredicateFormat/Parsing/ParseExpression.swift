/// Parses an expression's format string and puts the arguments in.
func parseExpression(_ format: String, _ arguments: [Value]) throws(PredicateFormatError) -> ExpressionTree {
    var parser = try FormatParser(format, arguments: arguments)
    let skeleton = try parser.parseExpression()
    let placeholders = parser.placeholders.map { ($0.kind, $0.offset) }
    guard arguments.count == placeholders.count else {
        throw PredicateFormatError(
            format: format, byteOffset: nil,
            reason: "expected \(placeholders.count) arguments, one a placeholder, found \(arguments.count)")
    }
    return skeleton.replacingArguments(with: try convert(arguments, for: placeholders, in: format))
}
