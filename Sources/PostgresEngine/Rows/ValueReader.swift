import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

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
