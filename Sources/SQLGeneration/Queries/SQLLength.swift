import PredicateFormat

/// How long a statement's SQL becomes. Comparisons that say an operand twice, nested in one another, would make it longer
/// than any memory holds.
final class SQLLength {
    private var allowed = 20_000
    private var segments = 0
    private var operands = 0
    private var depth = 0

    /// Allows as much as a predicate needs without such comparisons.
    func allow(for predicate: PredicateTree, _ arguments: [Value]) {
        var values = 0
        predicate.forEachComparison { _ in values += 1 }
        predicate.forEachConstant { values += $0.elements?.count ?? 1 }
        for argument in arguments { values += argument.elements?.count ?? 1 }
        allowed += values * 64
    }

    /// Counts an operand.
    func count() throws {
        operands += 1
        if operands > allowed { throw Self.error }
    }

    /// Makes a comparison, and counts its segments.
    func measuring(_ make: () throws -> SQLCondition) throws -> SQLCondition {
        depth += 1
        defer { depth -= 1 }
        let condition = try make()
        let size = condition.fragment.size(upTo: allowed)
        if segments + size > allowed { throw Self.error }
        // The outer comparison counts what is in it.
        if depth == 1 { segments += size }
        return condition
    }

    private static var error: any Error { SQLError.unsupported("a predicate whose SQL would be too long") }
}
