import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import SQLiteEngine
import StoreEngine

/// What makes a store that was migrated object by object the same store as before: its UUID, keys that are never used
/// twice, and its history.
package struct StoreContinuity {
    private let url: URL
    private let uuid: String?
    /// The greatest key that the store has given away.
    package let greatestKey: Int64
    private let timeout: Double
    /// The bytes in a page of the database.
    package let pageSize: Int64

    package init(_ url: URL, timeout: Double) throws {
        self.url = url
        self.timeout = timeout
        let file = try StoreFile.openForReading(url, timeout: timeout)
        uuid = try file.metadata()[NSStoreUUIDKey] as? String
        (greatestKey, pageSize) = try file.run("prepare the migration of") {
            (
                try file.connection.integer(
                    "SELECT MAX(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_ENT < \(StoreTables.firstHistoryNumber)") ?? 0,
                try file.connection.integer("PRAGMA page_size") ?? 4096
            )
        }
    }

    /// Gives a migrated store the UUID and the history.
    package func carry(to place: URL, _ history: HistoryTransfer) throws {
        let file = try StoreFile.open(place, mode: .readWrite, timeout: timeout)
        var metadata = try file.metadata()
        metadata[NSStoreUUIDKey] = uuid
        try file.write(metadata)
        try history.run(from: url, to: file)
    }
}
