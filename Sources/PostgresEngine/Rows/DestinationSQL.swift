import PostgresConnection
import SQLGeneration

/// The statements that find the destinations of a to-many relationship, those of one object one after the other, in order. Pure.
enum DestinationSQL {
    /// Source, key and entity.
    static func select(_ toMany: ToManyMapping, _ destination: EntityMapping) -> String {
        statement(toMany, destination) { "\($0), t0.\(ColumnName.key), t0.\(ColumnName.entity)" }
    }

    /// Whole rows, and the source behind each.
    static func select(_ toMany: ToManyMapping, _ destination: EntityMapping, _ rows: String) -> String {
        statement(toMany, destination) { "\(rows), \($0)" }
    }

    private static func statement(
        _ toMany: ToManyMapping, _ destination: EntityMapping, _ columns: (_ source: String) -> String
    ) -> String {
        let table = quotedName(destination.table)
        switch toMany {
        case .foreignKey(let key):
            let source = "t0.\(quotedName(key.column))"
            let order = key.orderColumn.map { "t0.\(quotedName($0)) NULLS FIRST, " } ?? ""
            return "SELECT \(columns(source)) FROM \(table) t0 WHERE \(source) = ANY($1) "
                + "ORDER BY \(source), \(order)t0.\(ColumnName.key)"
        case .joinTable(let join):
            let source = "t1.\(quotedName(join.sourceColumn))"
            let order = join.orderColumn.map { "t1.\(quotedName($0)) NULLS FIRST, " } ?? ""
            return "SELECT \(columns(source)) FROM \(quotedName(join.table)) t1 JOIN \(table) t0 "
                + "ON t0.\(ColumnName.key) = t1.\(quotedName(join.destinationColumn)) WHERE \(source) = ANY($1) "
                + "ORDER BY \(source), \(order)t0.\(ColumnName.key)"
        }
    }
}
