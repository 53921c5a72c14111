import CompactCollections
import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Reads and writes a store file's own data: metadata, cached model, entity numbers, pragmas.
package struct StoreFile {
    package let connection: Connection
    package let url: URL

    /// Runs work on the file, and converts SQLite's errors to Core Data's.
    package func run<Result>(
        _ work: String, fallback: Int = CoreDataErrorCode.sqlite, _ body: () throws -> Result
    ) throws -> Result {
        do { return try body() } catch {
            throw SQLiteStoreError.make(error, fallback: fallback, work: work, url: url)
        }
    }

    /// Runs work that has to read one state of the store: other programs may migrate it between two statements.
    package func readingOneState<Result>(_ work: String, _ body: () throws -> Result) throws -> Result {
        try run(work) { connection.isInTransaction ? try body() : try connection.transaction(.deferred, body) }
    }

    /// Whether the file has no tables: it was just created, or a store was destroyed in it.
    package func isEmpty() throws -> Bool { try run("read the store") { try connection.tableNames().isEmpty } }

    /// The metadata, with the UUID.
    ///
    /// - Throws: an `NSError` if the file is not a Core Data store.
    package func metadata() throws -> [String: Any] {
        try run("read the metadata of", fallback: CoreDataErrorCode.persistentStoreOpen) {
            let tables = try connection.tableNames()
            guard tables.contains("Z_METADATA"), tables.contains("Z_PRIMARYKEY") else {
                throw StoreError.make(
                    CoreDataErrorCode.persistentStoreIncompatibleSchema,
                    "“\(url.lastPathComponent)” is an SQLite database, but no store of Core Data's: it has no table "
                        + "\(tables.contains("Z_METADATA") ? "Z_PRIMARYKEY" : "Z_METADATA").", url: url)
            }
            let statement = try connection.prepare(StoreTablesSQL.metadata)
            guard try statement.step() else {
                throw StoreError.make(
                    CocoaError.Code.fileReadCorruptFile.rawValue,
                    "The store “\(url.lastPathComponent)” has no metadata: Z_METADATA is empty.", url: url)
            }
            let uuid = statement.string(at: 0)
            // The metadata may have been blanked when the file was published.
            guard !statement.isNull(at: 1) else { return [NSStoreUUIDKey: uuid, NSStoreTypeKey: NSSQLiteStoreType] }
            return try StoreMetadata.metadata(of: statement.data(at: 1), uuid: uuid, url: url)
        }
    }

    /// Replaces the metadata, and the UUID if they contain one. Core Data's own entries stay, above all those about the
    /// model: another program may have migrated the store since these metadata were read.
    package func write(_ metadata: [String: Any]) throws {
        let kept = try self.metadata().filter { StoreMetadata.isReserved($0.key) }
        let merged = kept.merging(metadata.filter { !StoreMetadata.describesModel($0.key) }) { $1 }
        let data = try StoreMetadata.data(of: merged, url: url)
        try run("write the metadata of", fallback: CoreDataErrorCode.persistentStoreSave) {
            let update = try connection.prepare(StoreTablesSQL.updateMetadataAndUUID)
            try update.bind(data, at: 1)
            if let uuid = metadata[NSStoreUUIDKey] as? String { try update.bind(uuid, at: 2) }
            try update.run()
        }
    }

    /// Replaces the store's copy of its model.
    package func renewModelCache(_ cache: Data) throws {
        try connection.execute("CREATE TABLE IF NOT EXISTS Z_MODELCACHE (Z_CONTENT BLOB)")
        try connection.run(StoreTablesSQL.deleteModelCache)
        let insert = try connection.prepare(StoreTablesSQL.insertModelCache)
        try insert.bind(cache, at: 1)
        try insert.run()
    }

    /// The numbers of the entities, without those of the history, all tables with their columns, and those of the
    /// columns whose removal was deferred.
    ///
    /// - Throws: 259 if an entity has two numbers, since no objects would be found by one of them.
    package func catalog() throws -> StoreCatalog {
        try run("read the tables of", fallback: CoreDataErrorCode.persistentStoreOpen) {
            var numbers: [String: Int] = [:]
            let rows = try connection.prepare(StoreTablesSQL.entities)
            while try rows.step() {
                let (name, number) = (rows.string(at: 1), Int(rows.integer(at: 0)))
                if let other = numbers.updateValue(number, forKey: name) {
                    throw damagedNumbers("Z_PRIMARYKEY numbers entity “\(name)” twice, \(other) and \(number)")
                }
            }
            // Damaged metadata are reported where they are needed.
            let deferred = DeferredCleanup((try? metadata()) ?? [:])
            return StoreCatalog(
                numbers: numbers, tables: try connection.columnsByTable(), unused: deferred.columns)
        }
    }

    /// Checks that objects in shared tables are found by the numbers of their entities; otherwise no fetch would find
    /// them.
    ///
    /// - Throws: 259 if a table has rows, but none of a known entity.
    package func checkNumbers(of schema: SQLSchema) throws {
        try run("read the tables of", fallback: CoreDataErrorCode.persistentStoreOpen) {
            for mapping in schema.mappings.compactMap({ $0 })
            where mapping.sharesTable && mapping.layout.superentity == nil {
                // The first row usually decides both conditions.
                guard try connection.integer(StoreTablesSQL.hasOnlyUnknownEntities(mapping)) == 1 else { continue }
                let numbers = mapping.numbers.map(String.init).joined(separator: ", ")
                throw damagedNumbers(
                    "none of the rows of table \(mapping.table) is of an entity with one of the numbers \(numbers), which "
                        + "Z_PRIMARYKEY gives “\(mapping.layout.name)” and its subentities")
            }
        }
    }

    private func damagedNumbers(_ reason: String) -> NSError {
        StoreError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue,
            "The store “\(url.lastPathComponent)” is damaged: \(reason).", url: url,
            suggestion: "Restore it from a backup.")
    }
}
