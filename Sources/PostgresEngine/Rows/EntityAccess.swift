import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

/// An entity's statements, made once: how its rows are selected and written.
final class EntityAccess {
    let mapping: EntityMapping
    let reader: RowReader
    /// Selects rows by their keys, `$1`.
    let selectText: String
    /// Selects one row by its key.
    let selectOneText: String
    /// All columns that a new row gets, besides key, entity and version.
    let columns: [WrittenColumn]
    let writer: ValueWriter

    init(_ mapping: EntityMapping, _ context: ReadingContext) {
        self.mapping = mapping
        let shape = RowShape(mapping.layout.selfAndSubentities.compactMap { context.schema.mapping(of: $0) })
        reader = RowReader(shape, context)
        let rows: SQLFragment = "SELECT \(shape.selection(alias: "t0")) FROM \(name: mapping.table) t0"
        selectText =
            ("\(rows) WHERE \(.key, of: "t0") = ANY(\(SQLFragment(.numbered(1))))" as SQLFragment).postgres.text
        columns = WrittenColumn.columns(of: mapping)
        selectOneText =
            ("\(rows) WHERE \(.key, of: "t0") = \(SQLFragment(.numbered(1)))" as SQLFragment).postgres.text
        writer = ValueWriter(mapping: mapping, schema: context.schema)
    }

    var table: String { quotedName(mapping.table) }
}
