import CoreDataModel
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Reads the rows of one entity, under the lock of its store.
final class EntityReader {
    let layout: EntityLayout
    let number: Int64
    let slots: ContiguousArray<SlotReader>
    /// Additional data for slots of the kinds `toOne` and `other`, by slot.
    private let destinations: ContiguousArray<EntityLayout?>
    private let rareReaders: ContiguousArray<RareSlotReader?>
    /// The ID that was read last.
    private var lastDestination: NSManagedObjectID?
    private let identity: StoreIdentity
    /// The same as the two above, without counting references for each row.
    private let unretainedLayout: Unmanaged<EntityLayout>
    private let unretainedStore: Unmanaged<StoreIdentity>
    private let external: ExternalData

    init(
        _ shape: RowShape.EntityShape, schema: SQLSchema, identity: StoreIdentity, external: ExternalData
    ) {
        layout = shape.mapping.layout
        number = Int64(shape.mapping.number)
        self.identity = identity
        unretainedLayout = .passUnretained(shape.mapping.layout)
        unretainedStore = .passUnretained(identity)
        self.external = external
        let count = layout.slots.count
        var slots = ContiguousArray(repeating: SlotReader(kind: .transient, index: -1), count: count)
        var destinations = ContiguousArray<EntityLayout?>(repeating: nil, count: count)
        var rareReaders = ContiguousArray<RareSlotReader?>(repeating: nil, count: count)
        for slot in shape.slots {
            var kind = SlotReader.kind(of: slot)
            // The size of a text is looked at before it is read.
            if kind == .string, external.budget != nil { kind = .other }
            slots[slot.slot] = SlotReader(kind: kind, index: slot.index)
            if kind == .toOne { destinations[slot.slot] = slot.column.destination }
            if !kind.isUsual {
                rareReaders[slot.slot] = RareSlotReader(
                    slot, attribute: layout.slots[slot.slot].attribute, schema: schema)
            }
        }
        for (property, finding) in shape.mapping.unavailable {
            guard let slot = layout.slotIndex(forName: property) else { continue }
            slots[slot] = SlotReader(kind: .other, index: -1)
            rareReaders[slot] = RareSlotReader(
                unavailable: finding.error("“\(layout.name).\(property)” cannot be read", url: nil))
        }
        self.slots = slots
        self.destinations = destinations
        self.rareReaders = rareReaders
    }

    func objectID(_ statement: Statement) -> NSManagedObjectID {
        NSManagedObjectID(layout: layout, store: identity, key: key(statement))
    }

    func key(_ statement: Statement) -> Int64 { statement.integer(at: 0) }

    func row(_ statement: Statement, versionIndex: Int32) throws -> Row {
        Row(
            objectID: objectID(statement),
            version: statement.integer(at: versionIndex), values: try values(statement))
    }

    func placedRow(_ statement: Statement, versionIndex: Int32) throws -> PlacedRow {
        PlacedRow(
            identity: ObjectIdentity(layout: unretainedLayout, store: unretainedStore, key: key(statement)),
            version: statement.integer(at: versionIndex), values: try values(statement))
    }

    func values(_ statement: Statement) throws -> ContiguousArray<StoredValue> {
        // `init(unsafeUninitializedCapacity:)` looks the array's type up each time, which takes longer than the checks
        // of `append`.
        var values = ContiguousArray<StoredValue>()
        values.reserveCapacity(slots.count)
        for place in slots.indices { values.append(try value(slots[place], place, statement)) }
        return values
    }

    /// Appends the values in a composite, in the order of the names; false in a slot of another kind.
    func elements(
        _ position: Int, named names: ContiguousArray<String>, _ statement: Statement,
        into values: inout ContiguousArray<StoredValue>
    ) throws -> Bool {
        try rareReaders[position]?
            .elements(named: names, statement, identity: identity, external: external, into: &values) ?? false
    }

    /// One value. A value other than 0 cannot be NULL, which saves asking SQLite for its type.
    @inline(__always)
    func value(_ slot: SlotReader, _ position: Int, _ statement: Statement) throws -> StoredValue {
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
            // Consecutive rows often refer to one object.
            if let last = lastDestination, last.key == key, last.layout === destination { return .identifier(last) }
            let identifier = NSManagedObjectID(layout: destination, store: identity, key: key)
            lastDestination = identifier
            return .identifier(identifier)
        case .transient: return .null
        case .uuid, .url, .decimal, .other:
            return try rareReaders[position]?.value(statement, identity: identity, external: external) ?? .null
        }
    }
}

/// How one slot is read. Trivial, so that iterating over the slots counts no references.
struct SlotReader {
    /// The usual kinds; a ``RareSlotReader`` handles the others.
    enum Kind: UInt8 {
        case transient, integer, string, double, date, toOne, uuid, url, decimal, other

        /// Whether all values of the kind are read without a ``RareSlotReader``.
        var isUsual: Bool { rawValue < Kind.uuid.rawValue }
    }

    let kind: Kind
    let index: Int32

    static func kind(of shape: RowShape.SlotShape) -> Kind {
        switch shape.column.storage {
        case .integer, .boolean: return .integer
        case .string: return .string
        case .double, .float: return .double
        case .date: return .date
        case .uuid: return .uuid
        case .url: return .url
        case .decimal: return .decimal
        case .toOne: return shape.entityIndex < 0 ? .toOne : .other
        default: return .other
        }
    }
}
