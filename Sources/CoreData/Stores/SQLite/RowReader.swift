import Foundation
import SQLiteConnection

/// Reads rows of a statement that selects a ``RowShape``: the hot path of every fetch.
///
/// Everything that depends on the entity is worked out once, so that a row costs one array, one ID and its values.
struct RowReader {
    private let identity: StoreIdentity
    private let selectsEntity: Bool
    private let entities: ContiguousArray<EntityReader>
    private let versionIndex: Int32

    init(shape: RowShape, schema: SQLSchema, identity: StoreIdentity, external: ExternalData) {
        self.identity = identity
        selectsEntity = shape.selectsEntity
        versionIndex = shape.firstColumn - 1
        entities = ContiguousArray(
            shape.entities.map { EntityReader($0, schema: schema, identity: identity, external: external) })
    }

    /// The statement's current row.
    ///
    /// - Parameter identifier: the row's ID, where it is known already.
    /// - Throws: an `NSError` when the row is of an entity that does not belong there.
    func row(_ statement: Statement, identifier: NSManagedObjectID? = nil) throws -> Row {
        let reader = try reader(statement)
        let key = statement.integer(at: 0)
        let objectID: NSManagedObjectID
        if let identifier, identifier.layout === reader.layout {
            objectID = identifier
        } else {
            objectID = NSManagedObjectID(layout: reader.layout, store: identity, key: key)
        }
        return Row(
            objectID: objectID, version: statement.integer(at: versionIndex), values: try reader.values(statement))
    }

    /// All rows that are left.
    func rows(_ statement: Statement, expecting count: Int) throws -> ContiguousArray<Row> {
        var rows = ContiguousArray<Row>()
        rows.reserveCapacity(count)
        try readRows(statement) { rows.append($0) }
        return rows
    }

    /// All rows that are left, one by one.
    @inline(__always)
    func readRows(_ statement: Statement, _ body: (Row) -> Void) throws {
        if !selectsEntity, let only = entities.first {
            // The usual case without looking for the reader of each row.
            while try statement.step() { body(try only.row(statement, versionIndex: versionIndex)) }
            return
        }
        while try statement.step() { body(try row(statement)) }
    }

    /// The values of all rows that are left, in one array that is filled again and again.
    func forEachRow(_ statement: Statement, _ body: (ContiguousArray<StoredValue>) -> Bool) throws {
        guard !selectsEntity, let only = entities.first else {
            while try statement.step() {
                guard body(try reader(statement).values(statement)) else { return }
            }
            return
        }
        var values = only.emptyValues
        while try statement.step() {
            try only.fill(&values, statement)
            guard body(values) else { return }
        }
    }

    private func reader(_ statement: Statement) throws -> EntityReader {
        if !selectsEntity, let only = entities.first { return only }
        let number = statement.integer(at: 1)
        for entity in entities where entity.number == number { return entity }
        throw StoreError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue,
            "The row with Z_PK \(statement.integer(at: 0)) is of an entity with number \(number), which the model does "
                + "not have among \(entities.map(\.layout.name).joined(separator: ", ")).")
    }
}

/// Reads the rows of one entity.
private final class EntityReader {
    let layout: EntityLayout
    let number: Int64
    private let slots: ContiguousArray<SlotReader>
    /// What the slots of kind `toOne` and `other` need besides, by slot.
    private let destinations: ContiguousArray<EntityLayout?>
    private let rareReaders: ContiguousArray<RareSlotReader?>
    private let identity: StoreIdentity
    private let external: ExternalData

    init(
        _ shape: RowShape.EntityShape, schema: SQLSchema, identity: StoreIdentity, external: ExternalData
    ) {
        layout = shape.mapping.layout
        number = Int64(shape.mapping.number)
        self.identity = identity
        self.external = external
        let count = layout.slots.count
        var slots = ContiguousArray(repeating: SlotReader(kind: .transient, index: -1), count: count)
        var destinations = ContiguousArray<EntityLayout?>(repeating: nil, count: count)
        var rareReaders = ContiguousArray<RareSlotReader?>(repeating: nil, count: count)
        for slot in shape.slots {
            let kind = SlotReader.kind(of: slot)
            slots[slot.slot] = SlotReader(kind: kind, index: slot.index)
            if kind == .toOne { destinations[slot.slot] = slot.column.destination }
            if kind == .other {
                rareReaders[slot.slot] = RareSlotReader(
                    slot, attribute: layout.slots[slot.slot].attribute, schema: schema)
            }
        }
        self.slots = slots
        self.destinations = destinations
        self.rareReaders = rareReaders
    }

    func row(_ statement: Statement, versionIndex: Int32) throws -> Row {
        Row(
            objectID: NSManagedObjectID(layout: layout, store: identity, key: statement.integer(at: 0)),
            version: statement.integer(at: versionIndex), values: try values(statement))
    }

    var emptyValues: ContiguousArray<StoredValue> { ContiguousArray(repeating: .null, count: slots.count) }

    func fill(_ values: inout ContiguousArray<StoredValue>, _ statement: Statement) throws {
        for position in slots.indices { values[position] = try value(slots[position], position, statement) }
    }

    func values(_ statement: Statement) throws -> ContiguousArray<StoredValue> {
        try ContiguousArray(unsafeUninitializedCapacity: slots.count) { buffer, count in
            for slot in slots {
                buffer.initializeElement(at: count, to: try value(slot, count, statement))
                count += 1
            }
        }
    }

    /// One value. A value that is not 0 cannot be NULL, which saves asking SQLite for its kind.
    @inline(__always)
    private func value(_ slot: SlotReader, _ position: Int, _ statement: Statement) throws -> StoredValue {
        switch slot.kind {
        case .integer:
            let number = statement.integer(at: slot.index)
            return number == 0 && statement.isNull(at: slot.index) ? .null : .integer(number)
        case .string:
            return statement.optionalString(at: slot.index).map(StoredValue.string) ?? .null
        case .double:
            let number = statement.double(at: slot.index)
            return number == 0 && statement.isNull(at: slot.index) ? .null : .double(number)
        case .date:
            let seconds = statement.double(at: slot.index)
            return seconds == 0 && statement.isNull(at: slot.index) ? .null : .date(seconds)
        case .toOne:
            let key = statement.integer(at: slot.index)
            guard key != 0, let destination = destinations[position] else { return .null }
            return .identifier(NSManagedObjectID(layout: destination, store: identity, key: key))
        case .transient: return .null
        case .other:
            return try rareReaders[position]?.value(statement, identity: identity, external: external) ?? .null
        }
    }
}

/// How one slot is read. Trivial, so that going through the slots counts no references.
private struct SlotReader {
    /// The usual kinds; the rest is for a ``RareSlotReader``.
    enum Kind: UInt8 {
        case transient, integer, string, double, date, toOne, other
    }

    let kind: Kind
    let index: Int32

    static func kind(of shape: RowShape.SlotShape) -> Kind {
        switch shape.column.storage {
        case .integer: return .integer
        case .string: return .string
        case .double, .float: return .double
        case .date: return .date
        case .toOne: return shape.entityIndex < 0 ? .toOne : .other
        default: return .other
        }
    }
}

/// Reads the kinds of values that are seldom or slow anyway.
private final class RareSlotReader {
    private let shape: RowShape.SlotShape
    private let attribute: AttributeLayout?
    private let elements: [(name: String, reader: RareSlotReader)]
    private let schema: SQLSchema

    init(_ shape: RowShape.SlotShape, attribute: AttributeLayout?, schema: SQLSchema) {
        self.shape = shape
        self.attribute = attribute
        self.schema = schema
        elements = shape.elements.map { element in
            let name = String(element.column.property.split(separator: ".").last ?? "")
            let layout = attribute?.elements.first { $0.name == name }
            return (name, RareSlotReader(element, attribute: layout, schema: schema))
        }
    }

    func value(_ statement: Statement, identity: StoreIdentity, external: ExternalData) throws -> StoredValue {
        if shape.column.isComposite { return try composite(statement, identity: identity, external: external) }
        let index = shape.index
        if statement.isNull(at: index) { return .null }
        switch shape.column.storage {
        case .integer: return .integer(statement.integer(at: index))
        case .string: return .string(statement.string(at: index))
        case .double, .float: return .double(statement.double(at: index))
        case .date: return .date(statement.double(at: index))
        case .uuid:
            // A UUID that somebody stored as a text is read as well; anything else is kept as bytes.
            if let uuid = statement.uuid(at: index) { return .uuid(uuid) }
            return UUID(uuidString: statement.string(at: index)).map(StoredValue.uuid)
                ?? .data(statement.data(at: index))
        case .url: return URL(string: statement.string(at: index)).map { .object($0 as NSURL) } ?? .null
        case .decimal: return .object(NSDecimalNumber(string: statement.string(at: index)))
        case .data(let allowsExternal):
            let bytes = statement.data(at: index)
            return allowsExternal ? external.content(of: bytes).map(StoredValue.data) ?? .null : .data(bytes)
        case .transformable(let allowsExternal):
            let bytes = statement.data(at: index)
            guard let content = allowsExternal ? external.content(of: bytes) : bytes else { return .null }
            return TransformableCoding.value(of: content, for: attribute)
        case .toOne:
            let number = Int(statement.integer(at: shape.entityIndex))
            guard let declared = shape.column.destination else { return .null }
            let destination = schema.mapping(number: number)?.layout ?? declared
            return .identifier(
                NSManagedObjectID(layout: destination, store: identity, key: statement.integer(at: index)))
        }
    }

    private func composite(
        _ statement: Statement, identity: StoreIdentity, external: ExternalData
    ) throws -> StoredValue {
        var result: [String: Any] = [:]
        for (name, reader) in elements {
            let value = try reader.value(statement, identity: identity, external: external)
            guard let layout = reader.attribute, let object = value.objectValue(for: layout) else { continue }
            result[name] = object
        }
        return result.isEmpty ? .null : .object(CompositeValue(result))
    }
}
