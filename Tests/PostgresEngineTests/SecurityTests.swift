import CoreDataModel
import Foundation
import PostgresConnection
import PostgresEngine
import PostgresServer
import StoreEngine
import Testing

@Suite("Rights and hostile names in PostgreSQL", .needsPostgres)
struct SecurityTests {
    let database: TestDatabase

    init() throws { database = try TestDatabase() }

    private func open(_ user: String, readOnly: Bool = false) throws -> PostgresEngine {
        let engine = PostgresEngine(
            StoreFacts(
                url: database.url(user: user), options: [NSReadOnlyPersistentStoreOption: NSNumber(value: readOnly)]))
        try engine.open(Notes.model)
        return engine
    }

    /// Roles that the documentation describes; they are the server's, so that each test has its own.
    private func makeRoles() throws -> (owner: String, application: String, reader: String) {
        let names = ["owner", "application", "reader"].map { "\($0)_\(database.name)" }
        let administrator = try database.connect()
        for name in names { try administrator.execute("CREATE ROLE \(name) LOGIN") }
        try administrator.execute(
            "GRANT CREATE ON DATABASE \(database.name) TO \(names[0]); GRANT CREATE, USAGE ON SCHEMA public TO \(names[0])"
        )
        return (names[0], names[1], names[2])
    }

    @Test(
        "The owner makes the store, the application works with it, the reader reads: with the rights that are documented"
    )
    func leastPrivilege() throws {
        let roles = try makeRoles()
        let owner = try open(roles.owner)
        let connection = try database.connect(user: roles.owner)
        for role in [roles.application, roles.reader] {
            try connection.execute("GRANT USAGE ON SCHEMA public, pippin TO \(role)")
            try connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public, pippin TO \(role)")
        }
        try connection.execute(
            """
            GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO \(roles.application);
            GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO \(roles.application);
            GRANT INSERT, DELETE ON pippin.transactions, pippin.changes TO \(roles.application);
            GRANT UPDATE ON pippin.stores, pippin.saves TO \(roles.application);
            GRANT INSERT, UPDATE ON pippin.writers TO \(roles.application)
            """)
        let application = try open(roles.application)
        _ = try application.save(Notes.changes(application, ["a", "b"]))
        _ = try application.batches?.deleteBatch(BatchDeletePlan(rows: Notes.plan("text == 'b'")))
        #expect(try owner.fetchCount(Notes.plan()) == 1)
        #expect(try database.rows("SELECT count(*) FROM pippin.writers") == [["1"]])

        let reader = try open(roles.reader, readOnly: true)
        #expect(try reader.fetchCount(Notes.plan()) == 1)
        #expect(throws: NSError.self) { _ = try reader.save(Notes.changes(owner, ["c"])) }
        let writingReader = try open(roles.reader)
        let error = #expect(throws: NSError.self) { _ = try writingReader.save(Notes.changes(writingReader, ["c"])) }
        #expect(error?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
    }

    @Test("A role that may not make tables is told so")
    func noRights() throws {
        let roles = try makeRoles()
        let error = #expect(throws: NSError.self) { _ = try open(roles.application) }
        #expect(error?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
        #expect(error?.localizedRecoverySuggestion?.contains("right") == true)
    }

    @Test("A role whose transactions are for reading only by default is told so when it saves")
    func readOnlyByDefault() throws {
        let owner = try makeRoles().owner
        _ = try open(owner)
        try database.connect().execute("ALTER ROLE \(owner) SET default_transaction_read_only = on")
        let engine = try open(owner)
        let error = #expect(throws: NSError.self) { _ = try engine.save(Notes.changes(engine, ["a"])) }
        #expect(error?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
        #expect(error?.localizedRecoverySuggestion?.contains("default_transaction_read_only") == true)
        #expect(try open(owner, readOnly: true).fetchCount(Notes.plan()) == 0)
    }

    @Test("A table of another schema on the path is never taken for the store's")
    func searchPath() throws {
        let administrator = try database.connect()
        try administrator.execute("ALTER DATABASE \(database.name) SET search_path = evil, public; CREATE SCHEMA evil")
        let engine = try open("postgres")
        try administrator.execute("CREATE TABLE evil.note (LIKE public.note)")
        _ = try engine.save(Notes.changes(engine, ["a"]))
        let again = try open("postgres")
        #expect(try again.fetchCount(Notes.plan()) == 1)
        #expect(try database.rows("SELECT * FROM evil.note").isEmpty)
    }

    @Test("Names of any kind become tables and columns, and nothing else")
    func hostileNames() throws {
        let entity = NSEntityDescription()
        entity.name = "Robert"
        entity.userInfo = [PostgresNaming.userInfoKey: "x\"; DROP SCHEMA public CASCADE; --"]
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = ("name", .stringAttributeType, true)
        attribute.userInfo = [PostgresNaming.userInfoKey: "y' \\ \" $1"]
        entity.properties = [attribute]
        entity.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let engine = PostgresEngine(StoreFacts(url: URL(string: database.uri() + "&schema=%22%3B%20DROP")))
        try engine.open(model)
        let layout = try #require(try model.compiledLayout().entityByName["Robert"])
        let identifier = try #require(
            try engine.makePermanentIdentifiers(for: [layout], isSavedLater: false).first)
        var changes = ChangeSet()
        let text = "'; DROP TABLE \"x\"; -- \\"
        changes.inserted = [
            RowChange(objectID: identifier, version: 0, values: [.string(text)], changedSlots: [], toManyChanges: [])
        ]
        _ = try engine.save(changes)
        var plan = FetchPlan(entity: layout)
        plan.predicate = NSPredicate(format: "name == %@ AND name CONTAINS %@", text, "DROP")
        #expect(try engine.fetchRows(plan).first?.values == [.string(text)])
    }
}
