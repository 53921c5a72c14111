import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

/// Where the value of a slot lies in a result. It is small, since it is used for each value of each row.
struct SlotPlace {
    /// The kind of the column; nil for a slot that is not stored, or in several columns.
    let kind: ColumnKind?
    let column: Int32
}

/// Reads the rows of one entity.
final class EntityReader {
    let layout: EntityLayout
    let number: Int64
    let context: ReadingContext
    let places: ContiguousArray<SlotPlace>
    /// The layout for placed rows, which do not retain it: the reader does.
    let unretainedLayout: Unmanaged<EntityLayout>
    let unretainedStore: Unmanaged<StoreIdentity>
    /// By slot; nil for slots that are not stored.
    private let readers: ContiguousArray<ValueReader?>

    init(_ shape: RowShape.EntityShape, _ context: ReadingContext) {
        layout = shape.mapping.layout
        number = Int64(shape.mapping.number)
        self.context = context
        (unretainedLayout, unretainedStore) = (.passUnretained(layout), .passUnretained(context.identity))
        var readers = ContiguousArray<ValueReader?>(repeating: nil, count: layout.slots.count)
        for slot in shape.slots {
            readers[slot.slot] = ValueReader(slot, attribute: layout.slots[slot.slot].attribute)
        }
        self.readers = readers
        places = ContiguousArray(
            readers.map { reader in
                guard let reader, reader.elements.isEmpty else { return SlotPlace(kind: nil, column: 0) }
                return SlotPlace(kind: reader.kind, column: Int32(reader.column))
            })
    }

    @inline(__always)
    func value(at slot: Int, _ result: some RowCells, _ row: Int) -> StoredValue {
        let place = places[slot]
        guard let kind = place.kind else { return rareValue(at: slot, result, row) }
        let raw = result.raw(row, Int(place.column))
        // An empty text has the same length as a missing value.
        if raw.isEmpty, result.isNull(row, Int(place.column)) { return .null }
        switch kind {
        case .smallint, .integer, .bigint, .boolean: return .integer(BinaryNumber.integer(raw))
        case .string: return .string(String(decoding: raw, as: UTF8.self))
        case .double: return .double(BinaryNumber.double(raw))
        case .date: return .date(Timestamp(microseconds: BinaryNumber.integer(raw)).secondsSince2001)
        default: return rareValue(at: slot, result, row)
        }
    }

    private func rareValue(at slot: Int, _ result: some RowCells, _ row: Int) -> StoredValue {
        readers[slot]?.value(result, row, context) ?? .null
    }

    @inline(__always)
    func values(_ result: some RowCells, _ row: Int) -> ContiguousArray<StoredValue> {
        ContiguousArray<StoredValue>(unsafeUninitializedCapacity: places.count) { buffer, count in
            for slot in places.indices {
                buffer.initializeElement(at: slot, to: value(at: slot, result, row))
                count += 1
            }
        }
    }
}

/// Reads the rows of a result.
final class RowReader {
    private let entities: [EntityReader]
    private let selectsEntity: Bool
    let versionColumn: Int
    private let types: ColumnTypes

    init(_ shape: RowShape, _ context: ReadingContext) {
        entities = shape.entities.map { EntityReader($0, context) }
        types = ColumnTypes(shape)
        selectsEntity = shape.selectsEntity
        versionColumn = selectsEntity ? 2 : 1
    }

    func rows(_ result: PostgresResult) throws -> ContiguousArray<Row> {
        var rows = ContiguousArray<Row>()
        rows.reserveCapacity(result.count)
        try handOutRows(result) { rows.append($0) }
        return rows
    }

    /// Throws an error if columns have other types than those of the model.
    func checkTypes(of result: PostgresResult) throws { try types.check(result) }

    /// Hands out all rows, one by one.
    func handOutRows(_ result: some RowCells, _ body: (consuming Row) -> Void) throws {
        try types.check(result)
        try result.forEachRow { index in
            body(row(result, index, try entity(result, index)))
            return true
        }
    }

    /// Hands out all rows for objects, one by one.
    func handOutPlacedRows(_ result: some RowCells, _ body: (consuming PlacedRow) -> Void) throws {
        try types.check(result)
        try result.forEachRow { index in
            let entity = try entity(result, index)
            body(
                PlacedRow(
                    identity: ObjectIdentity(
                        layout: entity.unretainedLayout, store: entity.unretainedStore, key: result.integer(index, 0)),
                    version: result.integer(index, versionColumn), values: entity.values(result, index)))
            return true
        }
    }

    /// One row. A known ID is reused.
    func row(_ result: some RowCells, _ index: Int, identifier: NSManagedObjectID? = nil) throws -> Row {
        if index == 0 { try types.check(result) }
        let entity = try entity(result, index)
        guard let identifier, identifier.layout === entity.layout else { return row(result, index, entity) }
        return Row(
            objectID: identifier, version: result.integer(index, versionColumn), values: entity.values(result, index))
    }

    @inline(__always)
    func row(_ result: some RowCells, _ index: Int, _ entity: EntityReader) -> Row {
        Row(
            objectID: NSManagedObjectID(
                layout: entity.layout, store: entity.context.identity, key: result.integer(index, 0)),
            version: result.integer(index, versionColumn), values: entity.values(result, index))
    }

    /// Hands out the rows one after the other, each read when its values are asked for.
    ///
    /// - Returns: whether to go on, as the closure last said.
    @discardableResult
    func forEachRow<Cells: RowCells>(_ result: Cells, _ body: (any CurrentRow) -> Bool) throws -> Bool {
        var goesOn = true
        try forEachRow(result) { (row: ResultRow<Cells>, more: inout Bool) in
            more = body(row)
            goesOn = more
        }
        return goesOn
    }

    /// The same, until the closure says not to go on.
    @inline(__always)
    func forEachRow<Cells: RowCells>(
        _ result: Cells, _ body: (ResultRow<Cells>, inout Bool) throws -> Void
    ) throws {
        guard let first = entities.first else { return }
        try types.check(result)
        let row = ResultRow(self, result, first)
        try result.forEachRow { index in
            row.index = index
            if selectsEntity { row.entity = try entity(result, index) }
            var goesOn = true
            try body(row, &goesOn)
            return goesOn
        }
    }

    /// Hands out the rows by owner, each with the position of its owner.
    func forEachRow(
        _ result: PostgresResult, _ rows: OwnedRows, _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws {
        guard let first = entities.first, result.count > 0 else { return }
        try types.check(result)
        let row = ResultRow(self, result, first)
        try rows.forEach { place, index in
            row.index = index
            if selectsEntity { row.entity = try entity(result, index) }
            try body(place, row)
        }
    }

    @inline(__always)
    private func entity(_ result: some RowCells, _ index: Int) throws -> EntityReader {
        if !selectsEntity, let only = entities.first { return only }
        let number = result.integer(index, 1)
        for entity in entities where entity.number == number { return entity }
        throw StoreError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue,
            "The row with \(ColumnName.key) \(result.integer(index, 0)) is of an entity with number \(number), which the model does "
                + "not have among \(entities.map(\.layout.name).joined(separator: ", ")).")
    }
}

/// The types that the columns of rows have, unless somebody has given a column another one (`ALTER TABLE … ALTER …
/// TYPE`): its values would be read as different ones.
struct ColumnTypes {
    private let kinds: [(column: Int, kind: ColumnKind)]
    private let table: String

    init(_ shape: RowShape) {
        var kinds: [Int: ColumnKind] = [:]
        func add(_ slot: RowShape.SlotShape, _ attribute: AttributeLayout?) {
            guard slot.elements.isEmpty else {
                for element in slot.elements {
                    let name = element.column.property.split(separator: ".").last ?? ""
                    add(element, attribute?.elements.first { $0.name == name })
                }
                return
            }
            kinds[Int(slot.index)] = ColumnKind(slot.column.storage, attribute)
        }
        for entity in shape.entities {
            for slot in entity.slots { add(slot, entity.mapping.layout.slots[slot.slot].attribute) }
        }
        self.kinds = kinds.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        table = QualifiedName.name(shape.entities.first?.mapping.table ?? "")
    }

    /// Compares the types of a result, which tells them; rows that are copied do not.
    ///
    /// - Parameter cells: the rows.
    /// - Throws: an `NSError` if a column has values of a type that is read otherwise.
    func check(_ cells: some RowCells) throws {
        guard let result = cells as? PostgresResult, result.count > 0 else { return }
        for (column, kind) in kinds where !kind.reads(result.type(column)) {
            // Whatever type it has, a column without values has nothing to misread.
            guard (0..<result.count).contains(where: { !result.isNull($0, column) }) else { continue }
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreIncompatibleSchema,
                "The column “\(result.columnName(column))” of the table “\(table)” is not of the type "
                    + "\(kind.type.name): it was changed by other means than a migration, and its values cannot be read.",
                suggestion: "Change it back: ALTER TABLE … ALTER … TYPE \(kind.type.name).")
        }
    }
}

extension ColumnKind {
    /// Whether values of a type are read as they are meant; `nil` for a type that no column of Pippin's has.
    fileprivate func reads(_ type: PostgresType?) -> Bool {
        switch (self, type) {
        case (.smallint, .smallint?), (.smallint, .integer?), (.smallint, .bigint?), (.smallint, .boolean?),
            (.integer, .smallint?), (.integer, .integer?), (.integer, .bigint?), (.integer, .boolean?),
            (.bigint, .smallint?), (.bigint, .integer?), (.bigint, .bigint?), (.bigint, .boolean?),
            (.boolean, .smallint?), (.boolean, .integer?), (.boolean, .bigint?),
            (.key, .smallint?), (.key, .integer?), (.double, .real?):
            true
        // Texts have many types, such as `varchar`.
        case (.string, nil), (.url, nil): true
        default: type == self.type
        }
    }
}
