import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine
import Synchronization

/// An entity's statements, generated once: how its rows are selected and written.
final class EntityAccess {
    let mapping: EntityMapping
    /// The columns that its rows are selected as.
    let shape: RowShape
    let reader: RowReader
    /// Selects rows by their keys, `$1`.
    let selectText: String
    /// Selects one row by its key.
    let selectOneText: String
    let writer: ValueWriter
    /// The statements that write new rows: one row, by arrays, and by `COPY`.
    let insertOneText: String
    let insertText: String
    let copyText: String
    /// Statements that are generated when they are first needed, by the slots that they use.
    private let texts = Mutex(Texts())

    private struct Texts {
        var bySlot: [Int: (one: String, many: String)] = [:]
        var updates: [[Int]: (one: String, many: String)] = [:]
    }

    init(_ mapping: EntityMapping, _ context: ReadingContext) {
        self.mapping = mapping
        shape = RowShape(mapping.layout.selfAndSubentities.compactMap { context.schema.mapping(of: $0) })
        reader = RowReader(shape, context)
        let rows: SQLFragment = "SELECT \(shape.selection(alias: "t0")) FROM \(name: mapping.table) t0"
        selectText =
            ("\(rows) WHERE \(.key, of: "t0") = ANY(\(SQLFragment(.numbered(1))))" as SQLFragment).postgres.text
        selectOneText =
            ("\(rows) WHERE \(.key, of: "t0") = \(SQLFragment(.numbered(1)))" as SQLFragment).postgres.text
        let columns = WrittenColumn.columns(of: mapping)
        writer = ValueWriter(mapping: mapping, schema: context.schema, columns: columns)
        insertOneText = RowStatements.insertOne(mapping, columns)
        insertText = RowStatements.insert(mapping, columns)
        copyText = RowStatements.copy(mapping, columns)
    }

    /// The statements that select the rows with one value, and with any of several values, `$1`, in a slot; nil if the
    /// slot's values are not in one column.
    func selectTexts(where slot: Int) -> (one: String, many: String)? {
        guard let column = mapping.columns[slot], !column.isComposite, column.entityColumn == nil else { return nil }
        return texts.withLock { texts in
            if let known = texts.bySlot[slot] { return known }
            let made = selectTexts(where: column)
            texts.bySlot[slot] = made
            return made
        }
    }

    private func selectTexts(where column: SlotColumn) -> (one: String, many: String) {
        let rows: SQLFragment = "SELECT \(shape.selection(alias: "t0")) FROM \(name: mapping.table) t0"
        let (column, value) = (SQLColumn(column.name, of: "t0"), SQLFragment(.numbered(1)))
        let (one, many): (SQLFragment, SQLFragment) = (
            "\(rows) WHERE \(column) = \(value)", "\(rows) WHERE \(column) = ANY(\(value))"
        )
        return (one.postgres.text, many.postgres.text)
    }

    /// The statement that selects the rows at the end of a relationship, for objects with the keys `$1`, in no order;
    /// the key of the object follows the row.
    func selectText(of toMany: ToManyMapping) -> String {
        DestinationSQL.select(toMany, mapping, shape.selection(alias: "t0").postgres.text)
    }

    /// The statements that change some slots of one row, and of many.
    func updateTexts(_ slots: [Int]) -> (one: String, many: String) {
        texts.withLock { texts in
            if let known = texts.updates[slots] { return known }
            let written = columns.filter { slots.contains($0.slot) }
            let made = (RowStatements.updateOne(mapping, written), RowStatements.update(mapping, written))
            texts.updates[slots] = made
            return made
        }
    }

    /// All columns that a new row gets in addition to key, entity and version.
    var columns: [WrittenColumn] { writer.columns }
    var table: String { quotedName(mapping.table) }
}
