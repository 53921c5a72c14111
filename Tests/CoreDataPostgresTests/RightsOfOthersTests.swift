import CoreDataPostgres
import Foundation
import PostgresConnection
import PostgresServer
import Testing

@Suite("The rights of others on a store", .needsPostgres)
struct RightsOfOthersTests {
    private let database: TestDatabase
    private let reader: String

    init() throws {
        database = try TestDatabase()
        reader = "reader_\(database.name)"
        try fill(schema: nil, "here")
        try database.connect().execute(
            """
            CREATE ROLE \(reader) LOGIN; GRANT USAGE ON SCHEMA public, pippin TO \(reader);
            GRANT SELECT ON ALL TABLES IN SCHEMA public, pippin TO \(reader)
            """)
    }

    private func fill(schema: String?, _ name: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url(schema), options: nil)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for _ in 0..<3 { _ = context.insert("Author", ["name": name]) }
        try context.save()
    }

    private func url(_ schema: String?) -> URL {
        schema.flatMap { URL(string: database.uri() + "&schema=\($0)") } ?? database.url()
    }

    @Test("suffice for making a copy if they allow reading; the copy's new objects get new keys")
    func copying() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "pippin-reader-\(UUID().uuidString).sqlite")
        defer { try? FileManager.default.removeItem(at: file) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model)
        let store = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(user: reader),
            options: [NSReadOnlyPersistentStoreOption: true])
        try coordinator.migratePersistentStore(store, to: file, options: nil, withType: NSSQLiteStoreType)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        _ = context.insert("Author", ["name": "new"])
        try context.save()
        #expect(try context.fetch("Author").count == 4)
    }

    @Test("suffice for replacing another store by it if they allow reading")
    func replacingByIt() throws {
        let other = try TestDatabase()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model)
        try coordinator.replacePersistentStore(
            at: other.url(), destinationOptions: nil, withPersistentStoreFrom: database.url(user: reader),
            sourceOptions: nil, ofType: NSPostgreSQLStoreType)
        let context = try Bookshop.container(other).viewContext
        _ = context.insert("Author", ["name": "new"])
        try context.save()
        #expect(try context.fetch("Author").count == 4)
    }

    private func replace() throws {
        try fill(schema: "backup", "there")
        try NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model).replacePersistentStore(
            at: database.url(), destinationOptions: nil, withPersistentStoreFrom: url("backup"), sourceOptions: nil,
            ofType: NSPostgreSQLStoreType)
    }

    @Test("are there after it was replaced")
    func replaced() throws {
        let user = "user_\(database.name)"
        try database.connect().execute(
            """
            CREATE ROLE \(user); GRANT INSERT ON author TO \(user);
            GRANT USAGE ON SEQUENCE author__id_seq TO \(user)
            """)
        try replace()
        #expect(try database.rows("SELECT DISTINCT name FROM author") == [["there"]])
        for table in ["author", "book", "tag", "book_tags"] {
            let found = try database.rows(
                "SELECT has_table_privilege('\(reader)', '\(table)', 'SELECT')::text AS reads, "
                    + "has_table_privilege('\(user)', '\(table)', 'INSERT')::text AS writes")
            #expect(found == [["true", table == "author" ? "true" : "false"]], "\(table)")
        }
        let sequence = "has_sequence_privilege('\(user)', pg_get_serial_sequence('author', '_id'), 'USAGE')::text"
        #expect(try database.rows("SELECT \(sequence) AS u") == [["true"]])
    }

    @Test("keep it from being replaced if they are to a view on it, and the error says so")
    func view() throws {
        try database.connect().execute("CREATE VIEW names AS SELECT name FROM author")
        let error = #expect(throws: NSError.self) { try replace() }
        #expect(error?.localizedDescription.contains("names") == true || "\(error?.userInfo ?? [:])".contains("depend"))
        #expect(try database.rows("SELECT DISTINCT name FROM names") == [["here"]])
    }
}
