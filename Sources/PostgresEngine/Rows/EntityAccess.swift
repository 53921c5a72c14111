import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

/// An entity's statements, made once: how its rows are selected and written.
final class EntityAccess {
    let mapping: EntityMapping
    /// What its rows are selected as.
    let shape: RowShape
    let reader: RowReader
    /// Selects rows by their keys, `$1`.
    let selectText: String
    /// Selects one row by its key.
    let selectOneText: String
    let writer: ValueWriter

    init(_ mapping: EntityMapping, _ context: ReadingContext) {
        self.mapping = mapping
        shape = RowShape(mapping.layout.selfAndSubentities.compactMap { context.schema.mapping(of: $0) })
        reader = RowReader(shape, context)
        let rows: SQLFragment = "SELECT \(shape.selection(alias: "t0")) FROM \(name: mapping.table) t0"
        selectText =
            ("\(rows) WHERE \(.key, of: "t0") = ANY(\(SQLFragment(.numbered(1))))" as SQLFragment).postgres.text
        selectOneText =
            ("\(rows) WHERE \(.key, of: "t0") = \(SQLFragment(.numbered(1)))" as SQLFragment).postgres.text
        writer = ValueWriter(mapping: mapping, schema: context.schema, columns: WrittenColumn.columns(of: mapping))
    }

    /// The statement that selects the rows with one of some values, `$1`, in a slot; nil where the slot's values are not in one column.
    func selectText(where slot: Int) -> String? {
        guard let column = mapping.columns[slot], !column.isComposite, column.entityColumn == nil else { return nil }
        let rows: SQLFragment = "SELECT \(shape.selection(alias: "t0")) FROM \(name: mapping.table) t0"
        return
            ("\(rows) WHERE \(SQLColumn(column.name, of: "t0")) = ANY(\(SQLFragment(.numbered(1))))" as SQLFragment).postgres.text
    }

    /// The statement that selects the rows at the end of a relationship, for objects with the keys `$1`; behind the row comes the key of the
    /// object.
    func selectText(of toMany: ToManyMapping) -> String {
        DestinationSQL.select(toMany, mapping, shape.selection(alias: "t0").postgres.text)
    }

    /// All columns that a new row gets, besides key, entity and version.
    var columns: [WrittenColumn] { writer.columns }
    var table: String { quotedName(mapping.table) }
}
