import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection

/// Reserves primary keys of a table, inside a transaction; `Z_PRIMARYKEY` counts them.
package struct KeyCounter {
    let connection: Connection
    /// The number of the root entity.
    let number: Int64
    let table: String
    /// The statement that reads the greatest key.
    private let reading: String
    private static let writing = RowSQL.writeMaximumKey.sqlite.text

    /// - Parameters:
    ///   - connection: the store's connection.
    ///   - number: the number of the root entity.
    ///   - table: the entity's table.
    ///   - reading: the text of `RowSQL.readMaximumKey(of:)`, if it is known.
    init(_ connection: Connection, number: Int64, table: String, reading: String? = nil) {
        self.connection = connection
        self.number = number
        self.table = table
        self.reading = reading ?? RowSQL.readMaximumKey(of: table).sqlite.text
    }

    init(_ connection: Connection, _ entity: HistoryEntity) {
        self.init(connection, number: entity.rawValue, table: entity.table)
    }

    /// The greatest key in use: `Z_MAX`, or a row's key that was not counted, so that no row is ever overwritten.
    ///
    /// - Throws: an `NSError` with 259 if `Z_PRIMARYKEY` does not count the table's keys, or no keys are left.
    func latest() throws -> Int64 {
        let read = try connection.statement(reading)
        defer { read.reset() }
        try read.bind(number, at: 1)
        guard try read.step() else { throw damaged("no row", "there is none") }
        guard read.kind(at: 0) == .integer else {
            throw damaged("no number in Z_MAX", "“\(read.string(at: 0))” is not a number")
        }
        let latest = max(read.integer(at: 0), read.integer(at: 1), 0)
        guard latest < NSManagedObjectID.greatestKey else { throw damaged("no keys left", "\(latest) is taken") }
        return latest
    }

    /// Reserves keys.
    ///
    /// - Returns: the key before the first one.
    func reserve(_ count: Int64) throws -> Int64 {
        let latest = try next(count)
        if count > 0 { try setLatest(latest + count) }
        return latest
    }

    /// The next keys, without reserving them.
    ///
    /// - Returns: the key before the first one.
    func next(_ count: Int64) throws -> Int64 {
        let latest = try latest()
        guard count <= NSManagedObjectID.greatestKey - latest else {
            throw damaged("not so many keys left", "\(latest) is taken, and \(count) more are wanted")
        }
        return latest
    }

    /// Stores the highest key that was used.
    func setLatest(_ key: Int64) throws {
        let write = try connection.statement(Self.writing)
        try write.bind(key, at: 1)
        try write.bind(number, at: 2)
        try write.run()
    }

    private func damaged(_ what: String, _ found: String) -> NSError {
        StoreError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue,
            "The store is damaged: Z_PRIMARYKEY has \(what) for table \(table), entity number \(number): \(found).",
            suggestion: "Restore it from a backup.")
    }
}

/// The numbers of the history's own entities.
enum HistoryEntity: Int64 {
    case change = 16001
    case transaction = 16002
    case string = 16003
}

extension HistoryEntity {
    /// The table with its rows.
    var table: String {
        switch self {
        case .change: "ACHANGE"
        case .transaction: "ATRANSACTION"
        case .string: "ATRANSACTIONSTRING"
        }
    }
}
