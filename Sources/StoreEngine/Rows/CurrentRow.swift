import CoreDataModel

/// One row of a fetch for as long as it is handed out: its values are read when they are asked for, by slot, so that what
/// nobody asks for is not read, and what is asked for goes nowhere in between.
///
/// The same object stands for each row in turn, so a caller must not keep it.
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

    /// The primary key of what a to-one relationship leads to, without an ID around it; nil for nothing.
    func destination(at slot: Int) throws -> Int64?

    /// Whether a slot certainly has no value; false where that takes making the value to know.
    func isNull(at slot: Int) -> Bool

    // What is there without a `StoredValue` in between; nil for no value, and for one of another kind.

    func string(at slot: Int) -> String?
    func integer(at slot: Int) -> Int64?
    func double(at slot: Int) -> Double?
    /// Seconds since 2001-01-01 00:00 UTC.
    func date(at slot: Int) -> Double?
    func uuid(at slot: Int) -> UUID?
    /// The text that a URL or a decimal number is kept as.
    func text(at slot: Int) -> String?
    /// The values in a composite, in the order of the names, `.null` for an element that there is not.
    func elements(at slot: Int, named names: ContiguousArray<String>) throws -> ContiguousArray<StoredValue>?
}

extension CurrentRow {
    package var key: Int64 { objectID.key }

    package func placed() throws -> PlacedRow { PlacedRow(try whole()) }

    package func isNull(at slot: Int) -> Bool { false }
    package func uuid(at slot: Int) -> UUID? { nil }
    package func text(at slot: Int) -> String? { nil }

    package func elements(at slot: Int, named names: ContiguousArray<String>) throws -> ContiguousArray<StoredValue>? {
        nil
    }

    package func holds(_ value: StoredValue, at slot: Int) throws -> Bool { try self.value(at: slot) == value }

    package func destination(at slot: Int) throws -> Int64? {
        guard case .identifier(let identifier) = try value(at: slot) else { return nil }
        return identifier.key
    }
}

/// A row whose values were read before.
package final class ReadRow: CurrentRow {
    private var row: Row

    package init(_ row: Row) { self.row = row }

    /// Goes on to another row.
    package func stand(on row: Row) { self.row = row }

    package var objectID: NSManagedObjectID { row.objectID }
    package func whole() -> Row { row }
    package func value(at slot: Int) -> StoredValue { row.values[slot] }
    package func string(at slot: Int) -> String? { nil }
    package func integer(at slot: Int) -> Int64? { nil }
    package func double(at slot: Int) -> Double? { nil }
    package func date(at slot: Int) -> Double? { nil }
}
