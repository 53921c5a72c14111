import CoreDataModel
import SQLGeneration
import SQLiteConnection
import StoreEngine

// The data that a save needs for each row of one kind. They are classes, so that a row only takes one reference.

/// A column with the places of objects in an ordered relationship.
struct PlaceColumn: Hashable {
    let table: String
    let column: String
}

/// Inserts rows of one entity.
final class InsertStatement {
    let layout: EntityLayout
    let access: EntityAccess
    let statement: Statement
    /// The places of new rows, with one parameter each, after the values.
    let places: [NewPlaces]
    let number: Int64
    /// Whether the store lacks a part of the entity.
    let checksAvailable: Bool

    init(_ layout: EntityLayout, _ access: EntityAccess, _ statement: Statement, _ places: [NewPlaces]) {
        (self.layout, self.access, self.statement, self.places) = (layout, access, statement, places)
        number = Int64(access.mapping.number)
        checksAvailable = !access.mapping.unavailable.isEmpty
    }
}

/// Updates the same slots of rows of one entity.
final class UpdateStatement {
    let layout: EntityLayout
    let slots: [Int]
    /// The slots without those that triggers write.
    let written: [Int]
    let access: EntityAccess
    let statement: Statement
    let hasExternalSlots: Bool

    init(_ layout: EntityLayout, _ slots: [Int], _ access: EntityAccess, _ connection: Connection) throws {
        (self.layout, self.slots, self.access) = (layout, slots, access)
        written = access.writer.written(slots)
        statement = try connection.statement(access.updateText(written))
        hasExternalSlots = !access.writer.externalSlots.isEmpty
    }

    /// Whether the statement fits a change.
    @inline(__always)
    func fits(_ change: borrowing RowChange) -> Bool {
        change.objectID.layout === layout && change.changedSlots == slots
    }
}

/// The places of new objects in ordered relationships of objects that are also new: known before the rows are written,
/// so that each is inserted with its order key. It belongs to one save.
final class NewPlaces {
    // Only one thread uses a save, so checking its accesses for overlaps would find nothing.
    @exclusivity(unchecked) private var entries: [(destination: Int64, key: Int64)] = []
    @exclusivity(unchecked) private var isTaken: [Bool] = []
    /// The entry that comes next if rows are inserted in the order of their places, as usual.
    @exclusivity(unchecked) private var next = 0
    /// The entries by destination, once a row is out of order.
    @exclusivity(unchecked) private var indexes: [Int64: Int]?

    /// Adds the destinations of a new object.
    ///
    /// - Parameter order: all of them, in order.
    func add(_ order: [Int64]) {
        entries += OrderKeys.changes(order: order, existing: [:])
        isTaken += Array(repeating: false, count: order.count)
    }

    /// The order key with which a new row is inserted; nil for a row without a place.
    func take(_ destination: Int64) -> Int64? {
        if next < entries.count, entries[next].destination == destination {
            isTaken[next] = true
            next += 1
            return entries[next - 1].key
        }
        if indexes == nil {
            indexes = Dictionary(entries.indices.map { (entries[$0].destination, $0) }) { $1 }
        }
        guard let index = indexes?[destination], !isTaken[index] else { return nil }
        isTaken[index] = true
        next = index + 1
        return entries[index].key
    }

    /// The places that no new row has taken: those of rows that existed before.
    var left: [(destination: Int64, key: Int64)] { zip(entries, isTaken).filter { !$1 }.map(\.0) }
}
