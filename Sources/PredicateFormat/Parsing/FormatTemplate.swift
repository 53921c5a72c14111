import Synchronization

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
