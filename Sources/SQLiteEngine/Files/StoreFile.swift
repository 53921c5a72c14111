import CompactCollections
import CoreDataModel
import Foundation
import Ordering
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Reads and writes a store file's own data: metadata, model cache, entity numbers. It knows no model.
package struct StoreFile {
    package let connection: Connection
    package let url: URL

    /// Opens a store's file.
    ///
    /// - Parameters:
    ///   - url: the location of the store.
    ///   - mode: whether the file may be written or created.
    ///   - timeout: seconds to wait for another process's lock.
    /// - Returns: the file, with a connection of its own.
    /// - Throws: an `NSError` for a file that cannot be opened, or is not a store.
    package static func open(_ url: URL, mode: OpenMode, timeout: Double = 10) throws -> StoreFile {
        do {
            let file = StoreFile(
                connection: try Connection(path: url.path, mode: mode, busyTimeout: timeout), url: url)
            // SQLite reads the file only now.
            _ = try file.connection.integer("PRAGMA schema_version")
            if mode == .readWrite || mode == .create { try refuseSecondName(url) }
            return file
        } catch let error as SQLiteError where error.isCannotOpen && !FileManager.default.fileExists(atPath: url.path) {
            throw missing(url, mode: mode, error)
        } catch let error as SQLiteError where isFolder(url) {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen, "Cannot open the store “\(url.path)”: it is a folder.", url: url,
                suggestion: "Name a file in it.", underlying: error,
                userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedCode)])
        } catch {
            throw SQLiteStoreError.make(
                error, fallback: CoreDataErrorCode.persistentStoreOpen, work: "open the store", url: url)
        }
    }

    /// SQLite keeps what is saved in a log that is named after the file. Under each of two names there would be a log, and
    /// each would undo what the other one says.
    private static func refuseSecondName(_ url: URL) throws {
        var state = stat()
        guard stat(url.path, &state) == 0, state.st_nlink > 1 else { return }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOpen,
            "The store “\(url.lastPathComponent)” cannot be opened for writing: its file has \(state.st_nlink) names (hard links), "
                + "and what is saved under one of them would be lost under another.", url: url,
            suggestion: "Replace all of them but one by copies, or open it with NSReadOnlyPersistentStoreOption.")
    }

    private static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }

    private static func missing(_ url: URL, mode: OpenMode, _ error: SQLiteError) -> NSError {
        let folder = url.deletingLastPathComponent()
        let exists = FileManager.default.fileExists(atPath: folder.path)
        if exists, isFolder(folder), case .create = mode {
            return StoreError.make(
                CocoaError.Code.fileWriteNoPermission.rawValue,
                "Cannot make the store “\(url.lastPathComponent)”: its folder “\(folder.path)” cannot be written.",
                url: url, suggestion: "Check the folder's permissions.", underlying: error,
                userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedCode)])
        }
        let what = exists ? "there is no such file" : "there is no folder “\(folder.path)”"
        return StoreError.make(
            CocoaError.Code.fileReadNoSuchFile.rawValue, "Cannot open the store “\(url.lastPathComponent)”: \(what).",
            url: url, underlying: error, userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedCode)])
    }

    /// Opens an existing store for reading, in a mode that its folder allows: a read-only folder has no room for the
    /// files of a write-ahead log.
    package static func openForReading(_ url: URL, timeout: Double = 10) throws -> StoreFile {
        do {
            let file = try open(url, mode: .readOnly, timeout: timeout)
            _ = try file.connection.tableNames()
            return file
        } catch let error as NSError where FileManager.default.fileExists(atPath: url.path) {
            let cause = SQLiteError(reportedBy: error)
            guard !hasLog(url), cause?.isCannotOpen == true || cause?.isReadOnly == true else { throw error }
            return try open(url, mode: .immutable, timeout: timeout)
        } catch let error as SQLiteError where (error.isCannotOpen || error.isReadOnly) && !hasLog(url) {
            return try open(url, mode: .immutable, timeout: timeout)
        } catch {
            throw SQLiteStoreError.make(
                error, fallback: CoreDataErrorCode.persistentStoreOpen, work: "open the store", url: url)
        }
    }

    /// Whether there is a write-ahead log that is not empty.
    private static func hasLog(_ url: URL) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path + "-wal")
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0 > 0
    }

    /// Runs work on the file, and converts SQLite's errors to Core Data's.
    package func run<Result>(
        _ work: String, fallback: Int = CoreDataErrorCode.sqlite, _ body: () throws -> Result
    ) throws -> Result {
        do { return try body() } catch {
            throw SQLiteStoreError.make(error, fallback: fallback, work: work, url: url)
        }
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

    /// The store's copy of its model, without version hashes; nil if there is none.
    package func cachedModel() throws -> NSManagedObjectModel? {
        let data = try run("read the model cache of") { () -> Data? in
            guard try connection.tableNames().contains("Z_MODELCACHE") else { return nil }
            let statement = try connection.prepare(StoreTablesSQL.modelCache)
            return try statement.step() ? statement.data(at: 0) : nil
        }
        guard let data, !data.isEmpty else { return nil }
        do { return try ModelCache.model(fromModelCache: data, entityVersionHashes: [:]) } catch {
            throw StoreError.make(
                (error as NSError).code,
                "The copy of its model that the store “\(url.lastPathComponent)” keeps (Z_MODELCACHE) cannot be read. "
                    + error.localizedDescription, url: url,
                suggestion: "Restore the store from a backup, or delete the row of Z_MODELCACHE: then the model is "
                    + "looked for among the versions of the model's package and in the bundles.",
                underlying: error)
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

    /// The numbers of the entities, without those of the history, and all tables with their columns.
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
            var tables: [String: [TableDefinition.Column]] = [:]
            // Virtual tables have no page, and their module may be missing.
            let columns = try connection.prepare(
                "SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c "
                    + "WHERE m.type = 'table' AND m.rootpage > 0 AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
            while try columns.step() {
                tables[columns.string(at: 0), default: []].append(
                    .init(name: columns.string(at: 1), declaredType: columns.string(at: 2)))
            }
            return StoreCatalog(numbers: numbers, tables: tables)
        }
    }

    /// Checks that objects in shared tables are found by the numbers of their entities; otherwise they would all be
    /// overlooked.
    ///
    /// - Throws: 259 if a table has rows, but none of a known entity.
    package func checkNumbers(of schema: SQLSchema) throws {
        try run("read the tables of", fallback: CoreDataErrorCode.persistentStoreOpen) {
            for mapping in schema.mappings.compactMap({ $0 })
            where mapping.sharesTable && mapping.layout.superentity == nil {
                // The first row usually answers both questions.
                guard try connection.integer(StoreTablesSQL.hasStrangersOnly(mapping)) == 1 else { continue }
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

    /// Sets the journal mode. SQLite does not wait here for another process that does the same at this moment, so the
    /// statement is repeated.
    private func setJournalMode(_ mode: String, timeout: Double) throws {
        let end = Date(timeIntervalSinceNow: timeout)
        while true {
            do { return try connection.execute("PRAGMA journal_mode = \(mode)") } catch let error as SQLiteError
                where error.isBusy && Date() < end
            { usleep(5_000) }
        }
    }

    /// Sets the developer's pragmas on the connection, except those that shape a new file.
    func apply(_ pragmas: [String: String]) throws {
        try run("set the pragmas of", fallback: CoreDataErrorCode.persistentStoreOpen) {
            try connection.execute("PRAGMA synchronous = NORMAL")
            for (name, value) in pragmas.ordered(by: { $0.key < $1.key })
            where !["page_size", "auto_vacuum"].contains(name) {
                guard let name = Self.word(name), let value = Self.word(value) else { continue }
                try connection.execute("PRAGMA \(name) = \(value)")
            }
        }
    }

    private static func number(_ text: String?) -> Int? { text.flatMap { Int($0) } }

    /// A pragma's name or value, if it is a plain word or number, so that nothing else can get into the SQL.
    private static func word(_ text: String?) -> String? {
        guard let text, !text.isEmpty,
            text.utf8.allSatisfy({ byte in
                byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            })
        else { return nil }
        return text
    }
}
