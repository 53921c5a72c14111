import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine
import Synchronization

/// Finds a store in a database, or creates it there.
package struct DatabaseOpening {
    package let place: StorePlace
    package let connection: PostgresConnection
    /// Limits in a transaction how long it waits for locks, where the session has no limit.
    private let limit: String
    /// The number of the advisory lock that programs agree on; "Pippin" in the letters of a telephone keypad.
    private static let lockNumber = 747746
    private static let stagesLock = 747_751

    /// Connects, or joins the transaction of several stores.
    static func connect(
        _ place: StorePlace, _ settings: StoreSettings, isPooled: Bool, waits: Bool = false
    ) throws -> PostgresConnection {
        if let session = place.session { return try DatabaseSession.connection(session, place) }
        if waits { return try ServerSearch.connectWaiting(place, settings, isPooled: isPooled) }
        return try ServerSearch.connect(place, settings, isPooled: isPooled)
    }

    package init(_ place: StorePlace, _ settings: StoreSettings, isPooled: Bool) throws {
        self.place = place
        limit = isPooled ? settings.lockTimeout(local: true) + "; " : ""
        connection = try Self.connect(place, settings, isPooled: isPooled, waits: true)
    }

    package init(_ place: StorePlace, _ connection: PostgresConnection) {
        (self.place, self.connection, limit) = (place, connection, "")
    }

    /// - Throws: 134080 for a database whose texts are not in UTF-8.
    func checkEncoding() throws {
        guard let encoding = connection.databaseEncoding, encoding != "UTF8" else { return }
        throw PostgresStoreError.otherEncoding(place, encoding)
    }

    private var parameters: PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        return parameters
    }

    /// What the database knows of the store; nil if there is none.
    package func stored() throws -> StoredStore? {
        guard try hasTable("stores") else { return nil }
        let results = try connection.pipeline([
            .init(
                "SELECT uuid, format, metadata, keeps_history, generation FROM pippin.stores WHERE schema_name = $1",
                parameters),
            .init("SELECT name, number FROM pippin.entities WHERE schema_name = $1", parameters),
        ])
        guard results[0].count == 1 else { return nil }
        let format = results[0].integer(0, 1)
        guard format <= Bookkeeping.version else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreIncompatibleSchema,
                "The store “\(place.name)” was made by a newer version of Pippin (format \(format), and \(Bookkeeping.version) "
                    + "is known here).", url: place.shownURL)
        }
        var numbers: [String: Int] = [:]
        for row in 0..<results[1].count { numbers[results[1].string(row, 0)] = Int(results[1].integer(row, 1)) }
        let metadata = try StoreMetadata.metadata(
            of: results[0].data(0, 2), uuid: results[0].string(0, 0), url: place.shownURL ?? URL(fileURLWithPath: "/"))
        return StoredStore(
            metadata: metadata, numbers: numbers, keepsHistory: results[0].integer(0, 3) == 1,
            generation: results[0].integer(0, 4))
    }

    /// Whether a bookkeeping table exists: asked of the catalog's tables, as `to_regclass` may remember that there
    /// was none.
    func hasTable(_ name: String) throws -> Bool {
        var parameters = PostgresParameters()
        parameters.append(name)
        return try connection.query(
            "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                + "WHERE n.nspname = 'pippin' AND c.relname = $1)", parameters
        ).integer(0, 0) == 1
    }

    package struct StoredStore {
        package let metadata: [String: Any]
        package let numbers: [String: Int]
        package let keepsHistory: Bool
        /// How often the store was migrated.
        package let generation: Int64
    }

    /// From now on, all programs that save to the store record it in the history, also those that have it open: they
    /// find another generation.
    ///
    /// - Returns: the new generation; nil if another program has done it meanwhile.
    func keepHistory(_ settings: StoreSettings) throws -> Int64? {
        try connection.transaction {
            if !connection.keepsStatements { try connection.execute(settings.lockTimeout(local: true)) }
            // Saves that are under way end first.
            try connection.execute(OpenDatabase.lockAlone(place))
            let result = try connection.query(
                "UPDATE pippin.stores SET keeps_history = true, generation = generation + 1 WHERE schema_name = $1 "
                    + "AND NOT keeps_history RETURNING generation", parameters)
            return result.count == 1 ? result.integer(0, 0) : nil
        }
    }

    /// Whether the database has the table for what rows were before.
    ///
    /// - Parameter makesTable: whether it is made where it is missing.
    /// - Returns: whether it is there.
    /// - Throws: the server's errors.
    func keepsFormerValues(makesTable: Bool) throws -> Bool {
        if try hasTable("former_values") { return true }
        guard makesTable else { return false }
        try connection.transaction {
            try lock()
            try connection.execute(BookkeepingTables.formerValues)
        }
        return true
    }

    /// The store's copy of its model; nil if there is none.
    package func cachedModel() throws -> NSManagedObjectModel? {
        let result = try connection.query("SELECT model FROM pippin.stores WHERE schema_name = $1", parameters)
        guard result.count == 1, !result.isNull(0, 0) else { return nil }
        return try ModelCache.model(fromModelCache: result.data(0, 0), entityVersionHashes: [:])
    }

    /// Whether saves can leave marks by which their outcome can be found out later. Creates the table if it is missing,
    /// and deletes marks that are too old to be asked for.
    func keepsMarks() throws -> Bool {
        guard !connection.isReadOnlyByDefault else { return false }
        let rights = """
            SELECT pg_catalog.has_table_privilege(c.oid, 'SELECT') AND pg_catalog.has_table_privilege(c.oid, 'INSERT') AND \
            pg_catalog.has_table_privilege(c.oid, 'UPDATE'), pg_catalog.has_table_privilege(c.oid, 'DELETE') \
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
            WHERE n.nspname = 'pippin' AND c.relname = 'writers' AND has_schema_privilege(n.oid, 'USAGE') \
            AND NOT pg_is_in_recovery()
            """
        var result = try connection.query(rights)
        if result.count == 0, !connection.isInTransaction {
            // The table is created by the owner of the store's tables when it first opens the store; other roles do
            // without marks until then.
            do {
                try connection.transaction {
                    try lock()
                    try connection.execute(BookkeepingTables.writers)
                }
            } catch let error as PostgresError where error.isPermissionDenied || error.isOnStandby { return false }
            result = try connection.query(rights)
        }
        guard result.count == 1, result.integer(0, 0) == 1 else { return false }
        if result.integer(0, 1) == 1 {
            try connection.query(
                "DELETE FROM pippin.writers WHERE schema_name = $1 AND date < now() - interval '\(NSPostgreSQLUndecidedSave.daysKept) days'",
                parameters)
        }
        return true
    }

    /// Creates the tables of a new store, in one transaction. A program that does so at the same moment waits, and
    /// finds them there.
    ///
    /// - Parameters:
    ///   - schema: the tables.
    ///   - model: the model, of which the database keeps a copy.
    ///   - metadata: the store's metadata.
    ///   - fills: whether rows follow at once, so that indexes and references are created afterwards.
    /// - Returns: what the database knows of the store then.
    /// - Throws: the server's errors.
    package func create(
        _ schema: SQLSchema, model: NSManagedObjectModel, metadata: [String: Any], fills: Bool = false
    ) throws -> StoredStore {
        try checkEncoding()
        let cache = try ModelCache.modelCacheData(for: model)
        let list = try StoreMetadata.data(of: metadata, url: place.shownURL ?? URL(fileURLWithPath: "/"))
        return try connection.transaction {
            try lock()
            if let stored = try stored() { return stored }
            if try !hasTable("writers") { try connection.execute(BookkeepingTables.creation) }
            let hasSchema = try connection.query(
                "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", parameters)
            if hasSchema.integer(0, 0) == 0 { try connection.execute("CREATE SCHEMA \(quotedName(place.schema))") }
            let creation = TableCreation(schema)
            let statements = fills ? creation.tables.map(\.creation) : creation.statements
            try connection.execute(statements.joined(separator: ";\n"))
            var store = parameters
            store.append(UUID().uuidString)
            store.append(Bookkeeping.version)
            store.append(list)
            store.append(cache)
            var requests = [
                PostgresConnection.Request(
                    "INSERT INTO pippin.stores (schema_name, uuid, format, metadata, model) VALUES ($1, $2, $3, $4, $5)",
                    store),
                .init(
                    "INSERT INTO pippin.saves (schema_name, slot) SELECT $1, n FROM generate_series(0, \(BookkeepingTables.saveSlots - 1)) n",
                    parameters),
            ]
            requests += Bookkeeping.statements(of: schema, in: place.schema).map { .init($0) }
            _ = try connection.pipeline(requests)
            guard let stored = try stored() else {
                throw StoreError.make(
                    CoreDataErrorCode.persistentStoreOpen, "The store “\(place.name)” was made, and is not there.")
            }
            return stored
        }
    }

    /// Locks the database against creating and changing stores until the transaction ends.
    package func lock() throws { try connection.execute("\(limit)SELECT pg_advisory_xact_lock(\(Self.lockNumber))") }

    /// Begins a transaction, and waits in it for a lock that only staged migrations take.
    package func beginAlone(_ settings: StoreSettings) throws {
        try connection.execute("BEGIN; \(settings.lockTimeout(local: true))")
        try connection.execute(
            "SELECT pg_advisory_xact_lock(\(Self.stagesLock), \(OpenDatabase.lockNumber(of: place.schema)))")
    }

    /// Drops the store's tables, and deletes its metadata.
    ///
    /// - Parameter cascades: whether dependent objects, such as views, are dropped, too. Otherwise they are an error.
    /// - Throws: the server's errors.
    package func destroy(cascades: Bool = true) throws {
        try connection.transaction {
            try lock()
            guard try stored() != nil else { return }
            let tables = try TableGrants.tables(place, connection).map {
                quotedName(QualifiedName.make(schema: place.schema, name: $0))
            }
            if !tables.isEmpty {
                try connection.execute(
                    "SET CONSTRAINTS ALL IMMEDIATE; DROP TABLE \(tables.joined(separator: ", "))\(cascades ? " CASCADE" : ""); "
                        + "SET CONSTRAINTS ALL DEFERRED")
            }
            try connection.query("DELETE FROM pippin.stores WHERE schema_name = $1", parameters)
        }
    }
}

/// A transaction in which several stores of a database are read and written: a store opened by the URL that the session
/// gives it works in that transaction.
package enum DatabaseSession {
    private struct Shared: @unchecked Sendable {
        // @unchecked Sendable: it is used by the thread that runs the session, or by threads that this one waits for.
        let connection: PostgresConnection
        init(_ connection: PostgresConnection) { self.connection = connection }
    }

    private static let connections = Mutex<[String: Shared]>([:])

    /// Runs a closure in a transaction on a connection of its own.
    ///
    /// - Parameters:
    ///   - place: the location of the database.
    ///   - settings: how long to wait for locks.
    ///   - isPooled: whether a pooler passes the connection on to other clients: then nothing stays prepared or set on
    ///     it.
    ///   - body: receives the connection, and the name of the session.
    /// - Returns: what the closure returns.
    /// - Throws: the errors of the closure; the database is then unchanged.
    package static func run<Result>(
        _ place: StorePlace, _ settings: StoreSettings, isPooled: Bool,
        _ body: (PostgresConnection, String) throws -> Result
    ) throws -> Result {
        if let session = place.session { return try body(connection(session, place), session) }
        let connection = try DatabaseOpening.connect(place, settings, isPooled: isPooled)
        let name = UUID().uuidString
        return try connection.wholeTransaction {
            if isPooled { try connection.execute(settings.lockTimeout(local: true)) }
            let shared = Shared(connection)
            connections.withLock { $0[name] = shared }
            defer { connections.withLock { $0[name] = nil } }
            return try body(connection, name)
        }
    }

    static func connection(_ session: String, _ place: StorePlace) throws -> PostgresConnection {
        if let shared = connections.withLock({ $0[session] }) { return shared.connection }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOperation, "The transaction that “\(place.name)” was a part of has ended.",
            url: place.shownURL)
    }
}

// Notes beside the rows: a table that is made when it is first needed.
extension OpenDatabase {
    /// Makes the table where it is missing.
    func makeNotes() throws {
        try run("write to", fallback: CoreDataErrorCode.persistentStoreSave) {
            let opening = DatabaseOpening(place, connection)
            if try opening.hasTable("notes") { return }
            try connection.transaction {
                try opening.lock()
                try connection.execute(BookkeepingTables.notes)
            }
        }
    }

    func note(_ name: String) throws -> Data? {
        try notes("SELECT note FROM pippin.notes WHERE schema_name = $1 AND name = $2", name).flatMap { result in
            result.count == 0 ? nil : result.data(0, 0)
        }
    }

    func notes(beginningWith prefix: String, after name: String?, limit: Int) throws -> [(name: String, data: Data)] {
        try notes(
            "SELECT name, note FROM pippin.notes WHERE schema_name = $1 AND name > $2 AND name < $3 ORDER BY name LIMIT \(limit)",
            name ?? prefix, NoteSQL.end(of: prefix)
        ).map { result in (0..<result.count).map { (result.string($0, 0), result.data($0, 1)) } } ?? []
    }

    func noteCount(beginningWith prefix: String) throws -> Int {
        try notes(
            "SELECT count(*) FROM pippin.notes WHERE schema_name = $1 AND name > $2 AND name < $3", prefix,
            NoteSQL.end(of: prefix)
        ).map { Int($0.integer(0, 0)) } ?? 0
    }

    /// What a query about notes finds; nil while the database has no table for them.
    private func notes(_ query: String, _ texts: String...) throws -> PostgresResult? {
        try reading("read from") {
            if !hasNotes { hasNotes = try DatabaseOpening(place, connection).hasTable("notes") }
            guard hasNotes else { return nil }
            var parameters = PostgresParameters()
            parameters.append(place.schema)
            for text in texts { parameters.append(text) }
            return try connection.query(query, parameters)
        }
    }
}
