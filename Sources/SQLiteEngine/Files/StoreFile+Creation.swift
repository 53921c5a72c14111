import CompactCollections
import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension StoreFile {
    /// Creates the tables of an empty store, its metadata, entity numbers and model cache, in one transaction.
    func create(
        _ schema: SQLSchema, model: NSManagedObjectModel, metadata: [String: Any], uuid: String,
        pragmas: [String: String], timeout: Double = StoreSettings.defaultTimeout
    ) throws {
        let statements = try schema.creationStatements()
        let plist = try StoreMetadata.data(of: metadata, url: url)
        let cache = try ModelCache.modelCacheData(for: model)
        try run("make the store", fallback: CoreDataErrorCode.persistentStoreOpen) {
            // Before the first page is written.
            try connection.execute("PRAGMA page_size = \(Self.number(pragmas["page_size"]) ?? 4096)")
            try connection.execute("PRAGMA auto_vacuum = \(Self.number(pragmas["auto_vacuum"]) ?? 2)")
            try setJournalMode(Self.word(pragmas["journal_mode"]) ?? "WAL", timeout: timeout)
            try connection.transaction(.exclusive) {
                // Another process may have created the store just now; its store is then used.
                guard try connection.tableNames().isEmpty else { return }
                for statement in statements { try connection.execute(statement) }
                for row in schema.primaryKeyRows {
                    let insert = try connection.statement(RowSQL.insertEntity().sqlite.text)
                    try insert.bind(Int64(row.number), at: 1)
                    try insert.bind(row.name, at: 2)
                    try insert.bind(Int64(row.superNumber), at: 3)
                    try insert.bind(Int64(0), at: 4)
                    try insert.run()
                }
                let insert = try connection.prepare(StoreTablesSQL.insertMetadata)
                try insert.bind(uuid, at: 1)
                try insert.bind(plist, at: 2)
                try insert.run()
                let insertCache = try connection.prepare(StoreTablesSQL.insertModelCache)
                try insertCache.bind(cache, at: 1)
                try insertCache.run()
            }
        }
    }
}
