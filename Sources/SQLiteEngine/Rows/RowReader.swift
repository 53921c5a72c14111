import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Reads the rows of a statement that selects a ``RowShape``: the hot path of every fetch.
///
/// Everything that depends on the entity is computed once, so that a row only costs one array, one ID and its values.
struct RowReader {
    private let identity: StoreIdentity
    private let selectsEntity: Bool
    private let entities: ContiguousArray<EntityReader>
    private let versionIndex: Int32
    /// How many bytes of values are read at once; nil for any number.
    let budget: ValueBudget?

    init(shape: RowShape, schema: SQLSchema, identity: StoreIdentity, external: ExternalData) {
        self.identity = identity
        selectsEntity = shape.selectsEntity
        versionIndex = shape.firstColumn - 1
        budget = external.budget
        entities = ContiguousArray(
            shape.entities.map { EntityReader($0, schema: schema, identity: identity, external: external) })
    }

    /// The statement's current row.
    ///
    /// - Parameters:
    ///   - statement: the statement, positioned at a row.
    ///   - identifier: the row's ID, if it is known.
    /// - Returns: the row, as a value.
    /// - Throws: an `NSError` if the row is of an entity that is not expected there.
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

    /// All remaining rows.
    func rows(_ statement: Statement, expecting count: Int) throws -> ContiguousArray<Row> {
        var rows = ContiguousArray<Row>()
        rows.reserveCapacity(count)
        func read() throws { while try statement.step() { rows.append(try row(statement)) } }
        if let budget { try budget.readingPage(read) } else { try read() }
        return rows
    }

    /// Hands out all remaining rows one by one.
    @inline(__always)
    func handOutRows(of statement: Statement, _ body: (consuming PlacedRow) -> Void) throws {
        if !selectsEntity, let only = entities.first {
            // The usual case, without looking up the reader of each row.
            while try statement.step() { body(try only.placedRow(statement, versionIndex: versionIndex)) }
            return
        }
        while try statement.step() { body(try reader(statement).placedRow(statement, versionIndex: versionIndex)) }
    }

    /// Hands out all remaining rows one by one; values are read when requested.
    func forEachRow(_ statement: Statement, _ body: (any CurrentRow) -> Bool) throws {
        try forEachRow(statement) { row, goesOn in goesOn = body(row) }
    }

    /// Hands out all remaining rows one by one, until `body` ends it.
    @inline(__always)
    func forEachRow(_ statement: Statement, _ body: (any CurrentRow, inout Bool) throws -> Void) throws {
        guard let first = entities.first else { return }
        let row = StatementRow(statement, first, versionIndex: versionIndex)
        var goesOn = true
        while goesOn, try statement.step() {
            if selectsEntity { row.reader = try reader(statement) }
            try body(row, &goesOn)
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
