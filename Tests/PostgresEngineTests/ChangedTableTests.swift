import CoreDataModel
import Foundation
import PostgresConnection
import PostgresEngine
import PostgresServer
import StoreEngine
import Testing

/// What a database's administrator does to a store's tables.
@Suite("A table that others have changed", .needsPostgres)
struct ChangedTableTests {
    private let stores: PostgresStores
    private let url: URL
    private let engine: PostgresEngine

    init() throws {
        stores = try PostgresStores()
        url = stores.nextURL()
        engine = try stores.open(url, Notes.model)
        _ = try engine.save(Notes.changes(engine, ["a", "b"]))
    }

    private func execute(_ statements: String) throws { try stores.database.connect().execute(statements) }

    @Test(
        "gives an error that names the column where its type would be misread",
        arguments: ["numeric", "text", "double precision"])
    func otherType(type: String) throws {
        try execute("ALTER TABLE store_1.note ALTER stars TYPE \(type) USING stars::\(type)")
        let error = #expect(throws: NSError.self) { _ = try engine.fetchRows(Notes.plan()) }
        #expect(error?.code == CoreDataErrorCode.persistentStoreIncompatibleSchema)
        #expect(error?.localizedDescription.contains("stars") == true)
    }

    @Test("gives the error again where so many rows are copied the next time")
    func copiedRows() throws {
        _ = try engine.save(Notes.changes(engine, (0..<2100).map { "\($0)" }))
        try execute("ALTER TABLE store_1.note ALTER stars TYPE numeric")
        for _ in 1...2 {
            #expect(throws: NSError.self) { try engine.forEachRow(Notes.plan()) { _ in true } }
        }
    }

    @Test(
        "gives an error that names what is missing, and says that it is to be put back",
        arguments: [("ALTER TABLE store_1.note DROP stars", "stars"), ("DROP TABLE store_1.note", "note")])
    func missing(change: String, name: String) throws {
        try execute(change)
        let error = #expect(throws: NSError.self) { _ = try engine.fetchRows(Notes.plan()) }
        #expect(error?.code == CoreDataErrorCode.persistentStoreOperation)
        #expect(error?.localizedDescription.contains(name) == true)
        #expect(error?.localizedRecoverySuggestion?.contains("change them back") == true)
    }

    @Test("is read where the numbers of a column became wider, and its texts limited")
    func fittingTypes() throws {
        try execute("ALTER TABLE store_1.note ALTER stars TYPE bigint, ALTER text TYPE varchar(9) COLLATE \"C\"")
        let rows = try engine.fetchRows(Notes.plan(sortedBy: "text"))
        #expect(rows.map { $0.values[0] } == [.string("a"), .string("b")])
        #expect(rows.map { $0.values[1] } == [.integer(0), .integer(1)])
    }

    @Test("takes many new rows of a role whose rows are checked by a policy")
    func policies() throws {
        let role = "tenant_\(stores.database.name)"
        try execute(
            """
            CREATE ROLE \(role) LOGIN;
            GRANT USAGE ON SCHEMA store_1, pippin TO \(role);
            GRANT ALL ON ALL TABLES IN SCHEMA store_1, pippin TO \(role);
            GRANT ALL ON ALL SEQUENCES IN SCHEMA store_1 TO \(role);
            ALTER TABLE store_1.note ENABLE ROW LEVEL SECURITY;
            CREATE POLICY tenant ON store_1.note USING (stars < 100) WITH CHECK (stars < 100)
            """)
        let tenant = PostgresEngine(
            StoreFacts(
                url: URL(string: stores.database.uri(user: role) + "&schema=store_1"), options: nil))
        try tenant.open(Notes.model)
        for _ in 1...2 { _ = try tenant.save(Notes.changes(tenant, (0..<300).map { "\($0)" })) }
        #expect(try engine.fetchCount(Notes.plan()) == 602)
    }

    @Test("gives an error that says so where its trigger keeps a row from being changed")
    func swallowedChange() throws {
        try execute(
            """
            CREATE FUNCTION store_1.leave() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
            CREATE TRIGGER leave BEFORE UPDATE ON store_1.note FOR EACH ROW EXECUTE FUNCTION store_1.leave()
            """)
        let rows = try engine.fetchRows(Notes.plan())
        let error = #expect(throws: NSError.self) { _ = try engine.save(Notes.update(rows, to: "c")) }
        #expect(error?.localizedDescription.contains("leaves out a row") == true)
    }

    @Test("gives an error that says so where its trigger drops new rows", arguments: [1, 2, 300])
    func swallowedRows(count: Int) throws {
        try execute(
            """
            CREATE FUNCTION store_1.leave() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN RETURN CASE WHEN NEW.text = ''0'' THEN NULL ELSE NEW END; END';
            CREATE TRIGGER leave BEFORE INSERT ON store_1.note FOR EACH ROW EXECUTE FUNCTION store_1.leave()
            """)
        let error = #expect(throws: NSError.self) {
            _ = try engine.save(Notes.changes(engine, (0..<count).map { "\($0)" }))
        }
        #expect(error?.localizedDescription.contains("leaves out a row") == true)
        #expect(try engine.fetchCount(Notes.plan()) == 2)
    }

    @Test("gives an error that names the limit where a value is too large for its index")
    func largeIndexed() throws {
        try execute("CREATE INDEX ON store_1.note (text)")
        let text = (0..<2000).map { _ in UUID().uuidString }.joined()
        let error = #expect(throws: NSError.self) { _ = try engine.save(Notes.changes(engine, [text])) }
        #expect(error?.localizedRecoverySuggestion?.contains("2,700 bytes") == true)
    }
}
