import CoreDataModel
import Foundation
import PostgresConnection
import PostgresEngine
import PostgresServer
import StoreEngine
import Testing

@Suite("A store that another program migrates while this one reads it", .needsPostgres)
struct MigratedMeanwhileTests {
    private let stores: PostgresStores
    private let engine: PostgresEngine
    private let url: URL

    init() throws {
        stores = try PostgresStores()
        url = stores.nextURL()
        engine = try stores.open(url, Notes.model)
    }

    private func save(_ count: Int) throws {
        _ = try engine.save(Notes.changes(engine, (0..<count).map { "note \($0)" }))
    }

    /// Changes the table as a migration does, which is committed while the closure waits for it.
    private func whileMigrating(
        _ sql: String = "ALTER TABLE store_1.note ALTER stars TYPE integer", seconds: Int = 1, _ body: () throws -> Void
    ) throws {
        let database = stores.database
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? database.connect().execute(
                "BEGIN; \(sql); UPDATE pippin.stores SET generation = generation + 1 WHERE schema_name = 'store_1'; "
                    + "SELECT pg_sleep(\(seconds)); COMMIT")
            ended.signal()
        }
        let sleeping = "SELECT pid FROM pg_stat_activity WHERE datname = '\(database.name)' AND wait_event = 'PgSleep'"
        while try database.rows(sleeping).isEmpty { usleep(10_000) }
        defer { ended.wait() }
        try body()
    }

    private func handedOut(_ plan: FetchPlan) throws -> Int {
        var count = 0
        try engine.forEachRow(plan) { _ in
            count += 1
            return true
        }
        return count
    }

    @Test("stays as it was for a pinned generation, also where this has not read a table yet")
    func pinnedBefore() throws {
        try save(3)
        engine.readGeneration = try engine.pinning?.pinGeneration()
        #expect(throws: PostgresError.self) {
            try stores.database.connect().execute(
                "SET lock_timeout = 500; ALTER TABLE store_1.note ALTER stars TYPE integer")
        }
        #expect(try engine.fetchRows(Notes.plan()).count == 3)
    }

    @Test("is pinned as it is afterwards")
    func pinnedMeanwhile() throws {
        try save(3)
        try whileMigrating {
            engine.readGeneration = try engine.pinning?.pinGeneration()
            #expect(try engine.fetchRows(Notes.plan()).count == 3)
        }
    }

    @Test("is migrated to the end where this takes one table after the other")
    func tableByTable() throws {
        try save(3)
        let both = """
            ALTER TABLE store_1.note ALTER stars TYPE integer; SELECT pg_sleep(1.5);
            ALTER TABLE store_1.folder ALTER name TYPE varchar
            """
        try whileMigrating(both) {
            engine.readGeneration = try engine.pinning?.pinGeneration()
            #expect(try engine.fetchRows(Notes.plan()).count == 3)
        }
        #expect(try stores.database.rows("SELECT pg_typeof(stars)::text FROM store_1.note LIMIT 1") == [["integer"]])
    }

    @Test("is not waited for longer than the options say")
    func timeout() throws {
        try save(3)
        let impatient = try stores.open(url, Notes.model, options: [NSPersistentStoreTimeoutOption: 0.2])
        try whileMigrating(seconds: 5) {
            let error = #expect(throws: NSError.self) { _ = try impatient.pinning?.pinGeneration() }
            #expect(error?.code == NSPersistentStoreTimeoutError)
        }
        #expect(try impatient.pinning?.pinGeneration() != nil)
    }

    @Test("is fetched from with all its rows where Pippin evaluates the condition")
    func evaluated() throws {
        try save(3)
        try whileMigrating { try #expect(engine.fetchRows(Notes.plan("text LIKE 'n*'")).count == 3) }
    }

    @Test("is fetched from with all its rows where these are so many that they come in portions")
    func many() throws {
        try save(60_000)
        let plan = try Notes.plan("text BEGINSWITH 'note'")
        #expect(try handedOut(plan) == 60_000)
        try whileMigrating { try #expect(handedOut(plan) == 60_000) }
    }

    @Test("is copied to another server with all its rows")
    func replacing() throws {
        try save(3)
        let other = try PostgresStores()
        try whileMigrating("ALTER TABLE store_1.note ALTER stars TYPE smallint USING stars + 0") {
            try PostgresFormat.replace(at: other.nextURL(), from: url, options: nil)
        }
        #expect(try other.database.rows("SELECT count(*) FROM store_1.note") == [["3"]])
    }

    @Test("gives no copied row for one of its own if another one replaces it")
    func replacedMeanwhile() throws {
        try save(2_000)
        #expect(try handedOut(Notes.plan()) == 2_000)
        try stores.database.connect().execute(
            """
            CREATE TABLE store_1.other (LIKE store_1.note INCLUDING ALL);
            INSERT INTO store_1.other (_id, _entity, text) SELECT _id, _entity, 'somebody else''s' FROM store_1.note
            """)
        let swap = """
            DROP TABLE store_1.note CASCADE; ALTER TABLE store_1.other RENAME TO note;
            UPDATE pippin.stores SET uuid = '\(UUID())' WHERE schema_name = 'store_1'
            """
        try whileMigrating(swap) {
            let error = #expect(throws: NSError.self) { _ = try handedOut(Notes.plan()) }
            #expect(error?.localizedDescription.contains("replaced by another one") == true)
        }
    }

    @Test("is pinned by a role that may read only some of its tables")
    func someTables() throws {
        try save(3)
        let role = "role_\(stores.database.name)"
        try stores.database.connect().execute(
            """
            CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA store_1, pippin TO \(role);
            GRANT SELECT ON ALL TABLES IN SCHEMA pippin TO \(role); GRANT SELECT ON store_1.note TO \(role)
            """)
        let place = try #require(URL(string: stores.database.uri(user: role) + "&schema=store_1"))
        let reader = try stores.open(place, Notes.model, options: [NSReadOnlyPersistentStoreOption: true])
        for count in 3...4 {
            reader.readGeneration = try reader.pinning?.pinGeneration()
            #expect(try reader.fetchRows(Notes.plan()).count == count)
            reader.readGeneration = nil
            try save(1)
        }
    }

    /// The tests' server has place for 256 locks in each transaction.
    @Test("is pinned without locks where it has more tables than the server has locks for", arguments: [65, 257])
    func manyTables(count: Int) throws {
        let model = NSManagedObjectModel()
        model.entities = (0..<count).map { number in
            let entity = NSEntityDescription()
            entity.name = "Thing\(number)"
            return entity
        }
        let engine = try stores.open(stores.nextURL(), model)
        let locked = """
            SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_database d ON d.oid = l.database \
            WHERE c.relname LIKE 'thing%' AND d.datname = current_database()
            """
        engine.readGeneration = try engine.pinning?.pinGeneration()
        #expect(engine.readGeneration != nil)
        #expect(try stores.database.rows(locked) == [[count > 256 ? "0" : "\(count)"]])
    }
}
