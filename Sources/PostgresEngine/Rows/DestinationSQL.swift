import PostgresConnection
import SQLGeneration

/// The statements that find the destinations of a to-many relationship. Pure.
enum DestinationSQL {
    /// Source, key and entity; the destinations of one object follow one another, in order.
    static func select(_ toMany: ToManyMapping, _ destination: EntityMapping) -> String {
        let parts = Parts(toMany, destination)
        let order = parts.order.map { "\($0) NULLS FIRST, " } ?? ""
        return "SELECT \(parts.source), t0.\(ColumnName.key), t0.\(ColumnName.entity) \(parts.tables) "
            + "ORDER BY \(parts.source), \(order)t0.\(ColumnName.key)"
    }

    /// Whole rows in no order, each followed by the source, and by the place if there is one.
    static func select(_ toMany: ToManyMapping, _ destination: EntityMapping, _ rows: String) -> String {
        let parts = Parts(toMany, destination)
        return
            "SELECT \(([rows, parts.source] + [parts.order].compactMap { $0 }).joined(separator: ", ")) \(parts.tables)"
    }

    private struct Parts {
        let source: String
        /// The column with the place; nil for a relationship without order.
        let order: String?
        let tables: String

        init(_ toMany: ToManyMapping, _ destination: EntityMapping) {
            let table = quotedName(destination.table)
            switch toMany {
            case .foreignKey(let key):
                source = "t0.\(quotedName(key.column))"
                order = key.orderColumn.map { "t0.\(quotedName($0))" }
                tables = "FROM \(table) t0 WHERE \(source) = ANY($1)"
            case .joinTable(let join):
                source = "t1.\(quotedName(join.sourceColumn))"
                order = join.orderColumn.map { "t1.\(quotedName($0))" }
                tables =
                    "FROM \(quotedName(join.table)) t1 JOIN \(table) t0 "
                    + "ON t0.\(ColumnName.key) = t1.\(quotedName(join.destinationColumn)) WHERE \(source) = ANY($1)"
            }
        }
    }
}
