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

extension StoreFile {
    /// Sets the journal mode. SQLite does not wait here for another process that does the same at this moment, so the
    /// statement is repeated.
    func setJournalMode(_ mode: String, timeout: Double) throws {
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
            for (name, value) in pragmas.sorted(by: { $0.key < $1.key })
            where !["page_size", "auto_vacuum"].contains(name) {
                guard let name = Self.word(name), let value = Self.word(value) else { continue }
                try connection.execute("PRAGMA \(name) = \(value)")
            }
        }
    }

    static func number(_ text: String?) -> Int? { text.flatMap { Int($0) } }

    /// A pragma's name or value, if it is a plain word or number, so that nothing else can get into the SQL.
    static func word(_ text: String?) -> String? {
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

extension StoreFile {
    /// Has the statements of the file written to the log, and reported to the program. A report has no values.
    private func traceStatements() {
        let isLogged = StatementLog.isOn
        connection.traceStatements(showsValues: isLogged && StatementLog.showsValues) { statement in
            if isLogged { StatementLog.write(statement.sql, seconds: statement.seconds) }
            guard !StatementLog.isLeftOut(statement.sql) else { return }
            StoreMonitor.report(
                .statement(
                    statement.sql, .seconds(statement.seconds), rows: statement.rows, error: statement.error))
        }
    }

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
            if StatementLog.isOn || StoreMonitor.isOn { file.traceStatements() }
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

    /// SQLite names the write-ahead log after the file. Opened under two names (hard links), the file would have two
    /// logs, and each would lose the changes in the other.
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
    /// files of a write-ahead log. What an interrupted program has written is taken back first, unless this process is
    /// to leave no trace.
    package static func openForReading(_ url: URL, timeout: Double = 10) throws -> StoreFile {
        do {
            let file = try open(url, mode: .readOnly, timeout: timeout)
            _ = try file.connection.tableNames()
            return file
        } catch {
            let cause = error as? SQLiteError ?? SQLiteError(reportedBy: error as NSError)
            if let cause, cause.isCannotOpen || cause.isReadOnly, FileManager.default.fileExists(atPath: url.path),
                !OpenMode.readsWithoutTrace
            {
                guard hasContent(url, "-journal") else { return try open(url, mode: .traceless, timeout: timeout) }
                if (try? open(url, mode: .readWrite, timeout: timeout)) != nil {
                    return try open(url, mode: .readOnly, timeout: timeout)
                }
            }
            throw SQLiteStoreError.make(
                error, fallback: CoreDataErrorCode.persistentStoreOpen, work: "open the store", url: url)
        }
    }

    /// Whether there is a file beside a store that is not empty.
    package static func hasContent(_ url: URL, _ suffix: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path + suffix)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0 > 0
    }
}

extension Connection {
    /// The columns of each table, in order, as the file spells them; without SQLite's own tables.
    func columnsByTable() throws -> [String: [TableDefinition.Column]] {
        var tables: [String: [TableDefinition.Column]] = [:]
        // Virtual tables have no page, and their module may be missing.
        let columns = try prepare(
            "SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c "
                + "WHERE m.type = 'table' AND m.rootpage > 0 AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        while try columns.step() {
            tables[columns.string(at: 0), default: []].append(
                .init(name: columns.string(at: 1), declaredType: columns.string(at: 2)))
        }
        return tables
    }
}

/// The tables and columns whose removal an in-place migration has deferred, since nothing uses them any more. The list
/// is kept in the store's metadata.
package struct DeferredCleanup: Equatable, Sendable {
    /// One thing to remove.
    package enum Task: Equatable, Sendable {
        case table(String)
        case column(String, table: String)

        /// `DROP TABLE _T_ZCAR`, `ALTER TABLE ZCAR DROP COLUMN ZCOLOUR`
        package var sql: String {
            switch self {
            case .table(let name): return "DROP TABLE IF EXISTS \(quoted(name))"
            case .column(let name, let table): return "ALTER TABLE \(quoted(table)) DROP COLUMN \(quoted(name))"
            }
        }
    }

    private static let key = "PippinDeferredMigrationTasks"

    package var tasks: [Task] = []

    package init(_ tasks: [Task] = []) { self.tasks = tasks }

    /// The deferred tasks in a store's metadata: each is the name of a table, or those of a table and a column.
    package init(_ metadata: [String: Any]) {
        let names = metadata[Self.key] as? [[String]] ?? []
        tasks = names.compactMap { names in
            switch names.count {
            case 1: return .table(names[0])
            case 2: return .column(names[1], table: names[0])
            default: return nil
            }
        }
    }

    /// The columns to remove, by table.
    var columns: [String: Set<String>] {
        var columns: [String: Set<String>] = [:]
        for case .column(let name, let table) in tasks { columns[table, default: []].insert(name) }
        return columns
    }

    /// Writes the tasks into metadata, with Core Data's own key to show that there are some.
    package func note(in metadata: inout [String: Any]) {
        metadata[Self.key] = nil
        metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] = nil
        guard !tasks.isEmpty else { return }
        metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] = true
        metadata[Self.key] = tasks.map { task -> [String] in
            switch task {
            case .table(let name): return [name]
            case .column(let name, let table): return [table, name]
            }
        }
    }
}

extension DeferredCleanup {
    /// Whether a table belongs to the store's bookkeeping, or to SQLite.
    private static func isKept(_ table: String) -> Bool {
        StoreTables.isReserved(table) || table.uppercased().hasPrefix("SQLITE_")
    }

    /// The tasks without those that would remove a model's objects or the store's bookkeeping. A migration leaves no
    /// such tasks, but any program can write metadata.
    package func sparing(_ schema: SQLSchema) -> DeferredCleanup {
        var used: [String: Set<String>] = [:]
        for mapping in schema.mappings.compactMap({ $0 }) {
            used[mapping.table, default: ["Z_PK", "Z_ENT", "Z_OPT"]].formUnion(mapping.allColumns)
        }
        for join in schema.joinTables { used[join.table.name] = Set(join.table.columns.map(\.name)) }
        return DeferredCleanup(
            tasks.filter { task in
                switch task {
                case .table(let name): return used[name] == nil && !Self.isKept(name)
                case .column(let name, let table):
                    return used[table]?.contains(name) != true && !Self.isKept(table)
                }
            })
    }
}
