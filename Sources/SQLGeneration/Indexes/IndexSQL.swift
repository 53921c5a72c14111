import CoreDataModel
import Foundation

/// The expressions and conditions of fetch indexes as SQL: unqualified columns, and constants as literals.
///
/// An index is stored in the file, and other programs that open it know neither Pippin's functions nor its collations:
/// an expression that needs these has no SQL.
struct IndexSQL {
    let schema: SQLSchema
    let mapping: EntityMapping

    /// The condition of a partial index, such as `ZISPENDING = 1`; nil for one that an index cannot have.
    func condition(_ predicate: NSPredicate) -> SQLFragment? {
        guard let tree = try? predicateTree(of: predicate) else { return nil }
        return plain { try $0.condition(tree, in: $1).fragment }
    }

    /// The term of an index over an expression, such as `abs(ZBALANCE) ASC`; nil for one that an index cannot have.
    func term(_ expression: NSExpression, ascending: Bool) -> SQLFragment? {
        let tree = expressionTree(of: expression)
        guard let term = plain({ try $0.operand(tree, in: $1).fragment }) else { return nil }
        return "\(term) \(ascending ? "ASC" : "DESC" as SQLFragment)"
    }

    /// Generates SQL that uses only columns of the index's own table and constants; nil if it needs more.
    private func plain(_ generate: (PredicateSQL, SQLScope) throws -> SQLFragment) -> SQLFragment? {
        let scope = SQLScope(mapping: mapping, names: AliasNames())
        guard let fragment = try? generate(PredicateSQL(schema: schema), scope), scope.joins.isEmpty else { return nil }
        return try? fragment.mapSegments { segment in
            switch segment {
            case .column(let column) where column.alias == scope.alias: .column(SQLColumn(column.name))
            case .parameter(let binding): .literal(try binding.value(BindingContext()))
            case .select, .stringSearch, .amongTexts, .existence: throw Obstacle()
            case .call(let function, _) where function.isRegisteredByPippin: throw Obstacle()
            default: segment
            }
        }
    }

    /// The SQL needs another table, or a function that only Pippin's connections have.
    private struct Obstacle: Error {}
}
