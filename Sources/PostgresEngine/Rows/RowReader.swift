import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

/// Reads the rows of a result.
final class RowReader {
    /// The rows of one entity.
    private final class Entity {
        let layout: EntityLayout
        let number: Int64
        /// By slot; nil for those that are not stored.
        let readers: ContiguousArray<ValueReader?>

        init(_ shape: RowShape.EntityShape) {
            layout = shape.mapping.layout
            number = Int64(shape.mapping.number)
            var readers = ContiguousArray<ValueReader?>(repeating: nil, count: layout.slots.count)
            for slot in shape.slots {
                readers[slot.slot] = ValueReader(slot, attribute: layout.slots[slot.slot].attribute)
            }
            self.readers = readers
        }
    }

    let context: ReadingContext
    private let entities: [Entity]
    private let selectsEntity: Bool
    private let versionColumn: Int

    init(_ shape: RowShape, _ context: ReadingContext) {
        self.context = context
        entities = shape.entities.map(Entity.init)
        selectsEntity = shape.selectsEntity
        versionColumn = selectsEntity ? 2 : 1
    }

    func rows(_ result: PostgresResult) throws -> ContiguousArray<Row> {
        var rows = ContiguousArray<Row>()
        rows.reserveCapacity(result.count)
        for index in 0..<result.count { rows.append(try row(result, index)) }
        return rows
    }

    /// One row. An ID that is known is used again.
    func row(_ result: PostgresResult, _ index: Int, identifier: NSManagedObjectID? = nil) throws -> Row {
        let entity = try entity(result, index)
        let key = result.integer(index, 0)
        let objectID: NSManagedObjectID
        if let identifier, identifier.layout === entity.layout {
            objectID = identifier
        } else {
            objectID = NSManagedObjectID(layout: entity.layout, store: context.identity, key: key)
        }
        let values = ContiguousArray<StoredValue>(unsafeUninitializedCapacity: entity.readers.count) { buffer, count in
            for reader in entity.readers {
                buffer.initializeElement(at: count, to: reader?.value(result, index, context) ?? .null)
                count += 1
            }
        }
        return Row(objectID: objectID, version: result.integer(index, versionColumn), values: values)
    }

    /// Hands out the rows one after the other, each read when its values are asked for.
    ///
    /// - Returns: whether to go on, as the closure said at last.
    @discardableResult
    func forEachRow(_ result: PostgresResult, _ body: (any CurrentRow) -> Bool) throws -> Bool {
        for index in 0..<result.count {
            let entity = try entity(result, index)
            guard body(ResultRow(self, result, index, entity.layout, entity.readers)) else { return false }
        }
        return true
    }

    private func entity(_ result: PostgresResult, _ index: Int) throws -> Entity {
        if !selectsEntity, let only = entities.first { return only }
        let number = result.integer(index, 1)
        for entity in entities where entity.number == number { return entity }
        throw StoreError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue,
            "The row with \(ColumnName.key) \(result.integer(index, 0)) is of an entity with number \(number), which the model does "
                + "not have among \(entities.map(\.layout.name).joined(separator: ", ")).")
    }
}

/// A row of a result whose values are read when they are asked for.
private final class ResultRow: CurrentRow {
    private let reader: RowReader
    private let result: PostgresResult
    private let index: Int
    private let layout: EntityLayout
    private let readers: ContiguousArray<ValueReader?>

    init(
        _ reader: RowReader, _ result: PostgresResult, _ index: Int, _ layout: EntityLayout,
        _ readers: ContiguousArray<ValueReader?>
    ) { (self.reader, self.result, self.index, self.layout, self.readers) = (reader, result, index, layout, readers) }

    var objectID: NSManagedObjectID {
        NSManagedObjectID(layout: layout, store: reader.context.identity, key: result.integer(index, 0))
    }

    func whole() throws -> Row { try reader.row(result, index) }
    func value(at slot: Int) -> StoredValue { readers[slot]?.value(result, index, reader.context) ?? .null }

    func string(at slot: Int) -> String? {
        guard let reader = readers[slot], reader.kind == .string, !result.isNull(index, reader.column) else {
            return nil
        }
        return result.string(index, reader.column)
    }

    func integer(at slot: Int) -> Int64? {
        guard let reader = readers[slot] else { return nil }
        switch reader.kind {
        case .smallint, .integer, .bigint, .boolean:
            return result.isNull(index, reader.column) ? nil : result.integer(index, reader.column)
        default: return nil
        }
    }

    func double(at slot: Int) -> Double? {
        guard let reader = readers[slot], reader.kind == .double, !result.isNull(index, reader.column) else {
            return nil
        }
        return result.double(index, reader.column)
    }

    func date(at slot: Int) -> Double? {
        guard let reader = readers[slot], reader.kind == .date, !result.isNull(index, reader.column) else { return nil }
        return result.timestamp(index, reader.column).secondsSince2001
    }
}
