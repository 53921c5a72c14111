import CoreDataModel

extension PredicateSQL {
    /// The terms of `ORDER BY`; empty for none.
    func order(by terms: [SortTerm], in scope: SQLScope) throws -> SQLFragment {
        .joined(try terms.map { try order(by: $0, in: scope) }, separator: ", ")
    }

    private func order(by term: SortTerm, in scope: SQLScope) throws -> SQLFragment {
        let tree: ExpressionTree = term.keyPath.isEmpty ? .evaluatedObject : .keyPath(term.keyPath)
        let operand = try operand(tree, in: scope)
        let isText = operand.storage == .string || operand.storage == .url || operand.storage == nil
        let collation: String
        switch isText ? term.comparison : .plain {
        case .plain: collation = ""
        case .caseInsensitive: collation = " COLLATE \(SQLCollationName.caseInsensitive)"
        case .localized: collation = " COLLATE \(SQLCollationName.localized)"
        case .localizedCaseInsensitive: collation = " COLLATE \(SQLCollationName.localizedCaseInsensitive)"
        case .localizedStandard: collation = " COLLATE \(SQLCollationName.localizedStandard)"
        }
        return operand.fragment + collation + (term.ascending ? "" : " DESC")
    }
}
