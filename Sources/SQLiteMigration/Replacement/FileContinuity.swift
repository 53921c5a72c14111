import CompactCollections
import CoreDataModel
import Foundation
import MigrationPlans
import SQLGeneration
import SQLiteConnection
import SQLiteEngine
import StoreEngine

/// Makes a store that was migrated object by object a continuation of the old one: with its UUID, keys that are never
/// used twice, and its history.
struct FileContinuity: StoreContinuity {
    private let url: URL
    private let uuid: String?
    /// The greatest key that the store has given out.
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
                try file.connection.integer(StoreTablesSQL.greatestKey) ?? 0,
                try file.connection.integer("PRAGMA page_size") ?? 4096
            )
        }
    }

    package func options(_ options: [AnyHashable: Any]) -> [AnyHashable: Any] {
        var options = options
        var pragmas = options[NSSQLitePragmasOption] as? [String: Any] ?? [:]
        // A database in write-ahead mode can only be replaced by one with pages of the same size.
        pragmas["page_size"] = pageSize
        options[NSSQLitePragmasOption] = pragmas
        return options
    }

    package func carry(to place: URL, _ mapping: ObjectMapping) throws {
        let file = try StoreFile.open(place, mode: .readWrite, timeout: timeout)
        var metadata = try file.metadata()
        metadata[NSStoreUUIDKey] = uuid
        try file.write(metadata)
        try HistoryTransfer(mapping).run(from: url, to: file)
    }
}
