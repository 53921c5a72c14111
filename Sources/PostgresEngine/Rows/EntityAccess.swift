import CoreDataModel
import Foundation
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

/// Reads one value of rows.
struct ValueReader {
    let kind: ColumnKind
    let column: Int
    let attribute: AttributeLayout?
    /// For a reference: the destination entity, and the column with the entity number of the actual destination.
    let destination: EntityLayout?
    let entityColumn: Int?
    /// For a composite attribute: its elements.
    let elements: [(name: String, reader: ValueReader)]

    init(_ shape: RowShape.SlotShape, attribute: AttributeLayout?) {
        kind = ColumnKind(shape.column.storage, attribute)
        column = Int(shape.index)
        self.attribute = attribute
        destination = shape.column.destination
        entityColumn = shape.entityIndex < 0 ? nil : Int(shape.entityIndex)
        elements = shape.elements.map { element in
            let name = String(element.column.property.split(separator: ".").last ?? "")
            return (name, ValueReader(element, attribute: attribute?.elements.first { $0.name == name }))
        }
    }

    /// Reads a value that is in a column of its own.
    init(_ kind: ColumnKind, column: Int, attribute: AttributeLayout?) {
        (self.kind, self.column, self.attribute) = (kind, column, attribute)
        (destination, entityColumn, elements) = (nil, nil, [])
    }

    @inline(__always)
    func value(_ result: some RowCells, _ row: Int, _ context: ReadingContext) -> StoredValue {
        if elements.isEmpty {
            let raw = result.raw(row, column)
            // An empty text has the same length as a missing value.
            if raw.isEmpty, result.isNull(row, column) { return .null }
            switch kind {
            case .smallint, .integer, .bigint, .boolean: return .integer(BinaryNumber.integer(raw))
            case .string: return .string(String(decoding: raw, as: UTF8.self))
            case .double: return .double(result.double(row, column))
            case .date: return .date(Timestamp(microseconds: BinaryNumber.integer(raw)).secondsSince2001)
            default: break
            }
        }
        return rareValue(result, row, context)
    }

    private func rareValue(_ result: some RowCells, _ row: Int, _ context: ReadingContext) -> StoredValue {
        guard elements.isEmpty else { return composite(result, row, context) }
        switch kind {
        case .uuid: return result.uuid(row, column).map(StoredValue.uuid) ?? .null
        case .url:
            return URL(string: result.string(row, column)).map { .object($0 as NSURL) } ?? .null
        case .decimal:
            guard let numeric = result.numeric(row, column), !numeric.isSpecial else { return .null }
            return .object(NSDecimalNumber(string: numeric.text))
        case .data: return .data(result.data(row, column))
        case .transformable:
            return TransformableCoding.value(of: result.data(row, column), for: attribute, context.coding)
        case .key:
            guard let destination else { return .null }
            var layout = destination
            if let entityColumn {
                let number = result.integer(row, entityColumn)
                layout = context.schema.entity(numbered: number, kindOf: destination) ?? destination
            }
            return .identifier(
                NSManagedObjectID(layout: layout, store: context.identity, key: result.integer(row, column)))
        default: return .null
        }
    }

    private func composite(_ result: some RowCells, _ row: Int, _ context: ReadingContext) -> StoredValue {
        .composite(
            elements.compactMap { _, reader in
                reader.attribute.map { ($0, reader.value(result, row, context)) }
            })
    }
}

/// The context that all readers of a store share.
struct ReadingContext {
    let schema: SQLSchema
    let identity: StoreIdentity
    /// The options for transformable values.
    let coding: TransformableCoding.Options
}
