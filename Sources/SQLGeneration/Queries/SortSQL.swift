import CoreDataModel

extension PredicateSQL {
    /// The terms of `ORDER BY`; empty for none.
    func order(by terms: [SortTerm], in scope: SQLScope) throws -> SQLFragment {
        .list(try orderTerms(terms, in: scope))
    }

    /// The same, each by itself.
    func orderTerms(_ terms: [SortTerm], in scope: SQLScope) throws -> [SQLFragment] {
        try terms.map { try order(by: $0, in: scope) }
    }

    private func order(by term: SortTerm, in scope: SQLScope) throws -> SQLFragment {
        let tree: ExpressionTree = term.keyPath.isEmpty ? .evaluatedObject : .keyPath(term.keyPath)
        let operand = try operand(tree, in: scope)
        let isText = operand.storage == .string || operand.storage == .url || operand.storage == nil
        return SQLFragment(
            .order(operand.fragment, isText ? term.comparison : .plain, isAscending: term.ascending))
    }
}
