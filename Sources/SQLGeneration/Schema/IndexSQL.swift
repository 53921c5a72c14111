import CoreDataModel
import Foundation

/// The expressions and conditions of fetch indexes as SQL: columns without a table before them, constants as literals.
///
/// An index lies in the file, where other programs meet it that know neither our functions nor our collations: what needs these has no SQL.
struct IndexSQL {
    let schema: SQLSchema
    let mapping: EntityMapping

    /// The condition of a partial index, such as `ZISPENDING = 1`; nil for one that an index cannot have.
    func condition(_ predicate: NSPredicate) -> String? {
        guard let tree = try? predicateTree(of: predicate) else { return nil }
        return text { try $0.condition(tree, in: $1).fragment }
    }

    /// The term of an index over an expression, such as `abs(ZBALANCE) ASC`; nil for one that an index cannot have.
    func term(_ expression: NSExpression, ascending: Bool) -> String? {
        let tree = expressionTree(of: expression)
        guard let text = text({ try $0.operand(tree, in: $1).fragment }) else { return nil }
        return "\(text) \(ascending ? "ASC" : "DESC")"
    }

    private func text(_ generate: (PredicateSQL, SQLScope) throws -> SQLFragment) -> String? {
        let scope = SQLScope(mapping: mapping, names: AliasNames())
        guard let fragment = try? generate(PredicateSQL(schema: schema), scope), scope.joins.isEmpty else { return nil }
        // Not of another table, and no function that only our connections have.
        guard !fragment.text.contains("(SELECT "), !fragment.text.contains("NSCoreData") else { return nil }
        let unqualified = fragment.text.replacingOccurrences(of: "\(scope.alias).", with: "")
        let pieces = unqualified.components(separatedBy: "?")
        guard pieces.count == fragment.bindings.count + 1 else { return nil }
        var text = pieces[0]
        for (binding, piece) in zip(fragment.bindings, pieces.dropFirst()) {
            guard let value = try? binding.value(BindingContext()) else { return nil }
            text += literal(value) + piece
        }
        return text
    }
}
