import CoreDataModel

/// One row of a fetch while it is handed out: values are read by slot when they are requested, so that others are not
/// read, and no intermediate copies are made.
///
/// The same object is reused for each row, so a caller must not keep it.
package protocol CurrentRow: AnyObject {
    /// The value in a slot.
    func value(at slot: Int) throws -> StoredValue

    /// The object's ID.
    var objectID: NSManagedObjectID { get }

    /// The primary key, without an ID around it.
    var key: Int64 { get }

    /// The whole row, which may be kept.
    func whole() throws -> Row

    /// The whole row for an object, which may be kept.
    func placed() throws -> PlacedRow

    /// Whether a slot has a value.
    func holds(_ value: StoredValue, at slot: Int) throws -> Bool

    /// The primary key of a to-one destination, without an ID around it; nil for none.
    func destination(at slot: Int) throws -> Int64?

    /// Whether a slot certainly has no value; false if that is only known after making the value.
    func isNull(at slot: Int) -> Bool

    // Values without an intermediate `StoredValue`; nil for no value, and for a value of another kind.

    func string(at slot: Int) -> String?
    func integer(at slot: Int) -> Int64?
    func double(at slot: Int) -> Double?
    /// Seconds since 2001-01-01 00:00 UTC.
    func date(at slot: Int) -> Double?
    func uuid(at slot: Int) -> UUID?
    /// The text by which a URL or a decimal number is stored.
    func text(at slot: Int) -> String?
    /// Appends the values in a composite, in the order of the names, with `.null` for missing elements.
    ///
    /// - Returns: false where the row does not hand them out one by one.
    func elements(
        at slot: Int, named names: ContiguousArray<String>, into values: inout ContiguousArray<StoredValue>
    ) throws -> Bool
}

extension CurrentRow {
    package var key: Int64 { objectID.key }

    package func placed() throws -> PlacedRow { PlacedRow(try whole()) }

    package func isNull(at slot: Int) -> Bool { false }
    package func uuid(at slot: Int) -> UUID? { nil }
    package func text(at slot: Int) -> String? { nil }

    package func elements(
        at slot: Int, named names: ContiguousArray<String>, into values: inout ContiguousArray<StoredValue>
    ) throws -> Bool { false }

    package func holds(_ value: StoredValue, at slot: Int) throws -> Bool { try self.value(at: slot) == value }

    package func destination(at slot: Int) throws -> Int64? {
        guard case .identifier(let identifier) = try value(at: slot) else { return nil }
        return identifier.key
    }
}

/// A row whose values have been read already.
package final class ReadRow: CurrentRow {
    private var row: Row

    package init(_ row: Row) { self.row = row }

    /// Moves to another row.
    package func stand(on row: Row) { self.row = row }

    package var objectID: NSManagedObjectID { row.objectID }
    package func whole() -> Row { row }
    package func value(at slot: Int) -> StoredValue { row.values[slot] }
    package func string(at slot: Int) -> String? { nil }
    package func integer(at slot: Int) -> Int64? { nil }
    package func double(at slot: Int) -> Double? { nil }
    package func date(at slot: Int) -> Double? { nil }
}

/// A row that is handed out for an object, without an ID, which most objects never need.
package struct PlacedRow {
    package let identity: ObjectIdentity
    /// The version, which increases with every update: `Z_OPT`.
    package let version: Int64
    /// The values by slot; `.null` in the slots of transient attributes.
    package let values: ContiguousArray<StoredValue>

    @inlinable
    package init(identity: ObjectIdentity, version: Int64, values: ContiguousArray<StoredValue>) {
        self.identity = identity
        self.version = version
        self.values = values
    }

    package init(_ row: Row) {
        self.init(identity: ObjectIdentity(row.objectID), version: row.version, values: row.values)
    }
}

/// The values of one object in its store.
package struct Row: @unchecked Sendable {
    // @unchecked Sendable: see StoredValue.
    package let objectID: NSManagedObjectID
    /// The version, which increases with every update: `Z_OPT`.
    package var version: Int64
    /// The values by slot; `.null` in the slots of transient attributes.
    package var values: ContiguousArray<StoredValue>

    package init(objectID: NSManagedObjectID, version: Int64, values: ContiguousArray<StoredValue>) {
        self.objectID = objectID
        self.version = version
        self.values = values
    }

    /// About how many bytes the values take.
    package var byteCount: Int {
        values.reduce(0) { sum, value in
            switch value {
            case .string(let text): sum + text.utf8.count
            case .data(let data): sum + data.count
            default: sum + 8
            }
        }
    }
}
