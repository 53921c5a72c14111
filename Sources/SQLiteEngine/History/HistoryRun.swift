import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// One transaction of the history that is being written.
final class HistoryRun {
    private let writer: HistoryWriter
    private let origin: ChangeOrigin
    /// The number of the transaction, once it contains a change.
    private var transaction: Int64?
    private var lastKey: Int64 = 0
    private var insertions: [Int: Statement] = [:]

    init(_ writer: HistoryWriter, _ origin: ChangeOrigin) {
        self.writer = writer
        self.origin = origin
    }

    /// Writes one change.
    ///
    /// - Parameters:
    ///   - type: whether the object was inserted, updated or deleted.
    ///   - identifier: the object's ID.
    ///   - columns: the properties that an update changed.
    ///   - tombstone: the values that a deletion keeps.
    /// - Throws: SQLite's errors.
    func note(
        _ type: HistoryChangeKind, _ identifier: NSManagedObjectID, columns: Data? = nil, tombstone: [SQLValue] = []
    ) throws {
        let transaction = try openTransaction()
        let insert = try insertion(tombstone.count)
        lastKey += 1
        try insert.bind(lastKey, at: 1)
        try insert.bind(HistoryEntity.change.rawValue, at: 2)
        try insert.bind(type.rawValue, at: 3)
        try insert.bind(writer.number(of: identifier.layout), at: 4)
        try insert.bind(identifier.key, at: 5)
        try insert.bind(transaction, at: 6)
        if let columns { try insert.bind(columns, at: 7) }
        for (index, value) in tombstone.enumerated() { try insert.bind(value, at: Int32(8 + index)) }
        try insert.run()
    }

    /// Writes a change for each selected row of an entity: `INSERT INTO ACHANGE … SELECT …`.
    ///
    /// - Parameters:
    ///   - type: whether the rows were inserted, updated or deleted.
    ///   - mapping: the entity; rows of its subentities are not included.
    ///   - condition: the condition on the rows of the entity's table `t`.
    ///   - columns: the properties that an update changed.
    /// - Throws: SQLite's errors.
    func noteRows(
        _ type: HistoryChangeKind, of mapping: EntityMapping, where condition: SQLFragment, columns: Data? = nil
    ) throws {
        let kept = type == .delete ? writer.tombstoneColumns(of: mapping) : []
        let transaction = try openTransaction()
        let insert = try writer.connection.statement(
            HistoryRowSQL.insertChanges(of: mapping, keeping: kept, where: condition))
        try insert.bind(lastKey, at: 1)
        try insert.bind(HistoryEntity.change.rawValue, at: 2)
        try insert.bind(type.rawValue, at: 3)
        try insert.bind(transaction, at: 4)
        if let columns { try insert.bind(columns, at: 5) }
        try insert.bind(Int64(mapping.number), at: 6)
        try insert.run()
        lastKey += Int64(writer.connection.changes)
    }

    /// Stores the highest key of the changes. It must be called once, at the end.
    func finish() throws {
        guard transaction != nil else { return }
        try KeyCounter(writer.connection, .change).setLatest(lastKey)
    }

    private func openTransaction() throws -> Int64 {
        if let transaction { return transaction }
        let number = try writer.insertTransaction(origin)
        lastKey = try KeyCounter(writer.connection, .change).latest()
        transaction = number
        return number
    }

    private func insertion(_ tombstones: Int) throws -> Statement {
        if let known = insertions[tombstones] { return known }
        let statement = try writer.connection.statement(HistoryRowSQL.insertChange(tombstones: tombstones))
        insertions[tombstones] = statement
        return statement
    }
}
