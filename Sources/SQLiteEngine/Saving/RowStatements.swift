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
