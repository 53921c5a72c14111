import CoreDataPostgres
import Foundation
import PostgresConnection
import PostgresServer
import Testing

@Suite("Opening a store in PostgreSQL", .needsPostgres)
struct OpeningTests {
    let database: TestDatabase

    init() throws { database = try TestDatabase() }

    @Test("finds the store that another program made, with the same UUID")
    func reopening() throws {
        let first = try Bookshop.container(database).persistentStoreCoordinator.persistentStores.first
        let second = try Bookshop.container(database).persistentStoreCoordinator.persistentStores.first
        #expect(first?.identifier != nil && first?.identifier == second?.identifier)
        #expect(second?.metadata[NSStoreTypeKey] as? String == "PostgreSQL")
    }

    @Test("makes the store once, when many programs start at the same moment")
    func startingTogether() async throws {
        let database = database
        let identifiers = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try Bookshop.container(database).persistentStoreCoordinator.persistentStores.first?.identifier
                }
            }
            return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(identifiers.count == 1)
    }

    @Test("keeps the stores of several schemas apart")
    func schemas() throws {
        for schema in ["one", "Two \"quoted\""] {
            let container = NSPersistentContainer(name: "Bookshop", managedObjectModel: Bookshop.model)
            container.persistentStoreDescriptions = [
                NSPersistentStoreDescription(postgreSQL: database.url(), schema: schema)
            ]
            container.loadPersistentStores { #expect($1 == nil) }
            _ = container.viewContext.insert("Tag", ["name": schema])
            try container.viewContext.save()
        }
        #expect(try database.rows("SELECT name FROM one.tag") == [["one"]])
        #expect(try database.rows("SELECT name FROM \"Two \"\"quoted\"\"\".tag") == [["Two \"quoted\""]])
    }

    @Test("adds the stores of two schemas that options name to one coordinator, each once")
    func schemasByOption() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model)
        func add(_ schema: String, _ url: URL?, _ string: String? = nil) throws {
            var options: [AnyHashable: Any] = [NSPostgreSQLSchemaOption: schema]
            options[NSPostgreSQLConnectionStringOption] = string
            try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: options)
        }
        try add("one", database.url())
        try add("two", database.url())
        try add("three", nil, database.url().absoluteString)
        #expect(coordinator.persistentStores.count == 3)
        for (schema, url, string) in [
            ("one", database.url(), nil), ("three", nil, database.url().absoluteString),
            ("two", nil, database.url().absoluteString),
        ] as [(String, URL?, String?)] {
            let error = #expect(throws: CocoaError.self) { try add(schema, url, string) }
            #expect(error?.localizedDescription.contains("was added already") == true)
        }
        #expect(coordinator.persistentStores.count == 3)
    }

    @Test("Metadata are those of the store in the schema that the options name, and of no other")
    func metadata() throws {
        let options: [AnyHashable: Any] = [NSPostgreSQLSchemaOption: "one"]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model)
        let store = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(), options: options)
        func metadata(_ options: [AnyHashable: Any]?) throws -> [String: Any] {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSPostgreSQLStoreType, at: database.url(), options: options)
        }
        #expect(try metadata(options)[NSStoreUUIDKey] as? String == store.identifier)
        #expect(throws: NSError.self) { try metadata(nil) }
        try NSPersistentStoreCoordinator.setMetadata(
            ["note": "n"], forPersistentStoreOfType: NSPostgreSQLStoreType, at: database.url(), options: options)
        #expect(try metadata(options)["note"] as? String == "n")
    }

    @Test("A store is not moved to a schema of the options that has a store already")
    func moving() throws {
        let options: [AnyHashable: Any] = [NSPostgreSQLSchemaOption: "one"]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model)
        let there = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(), options: options)
        try coordinator.remove(there)
        let store = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let error = #expect(throws: NSError.self) {
            try coordinator.migratePersistentStore(
                store, to: database.url(), options: options, withType: NSPostgreSQLStoreType)
        }
        #expect(error?.code == CocoaError.Code.fileWriteFileExists.rawValue)
    }

    @Test("refuses a model that does not fit")
    func otherModel() throws {
        _ = try Bookshop.container(database)
        let entity = NSEntityDescription()
        entity.name = "Book"
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let error = #expect(throws: (any Error).self) {
            try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(), options: nil)
        }
        #expect((error as? NSError)?.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test("says that the server is not there, and no password")
    func noServer() throws {
        let container = NSPersistentContainer(name: "Bookshop", managedObjectModel: Bookshop.model)
        let url = try #require(URL(string: "postgresql://app:secret@/books?host=/nowhere"))
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(postgreSQL: url)]
        var found: NSError?
        container.loadPersistentStores { found = $1 as? NSError }
        let error = try #require(found)
        #expect(error.localizedDescription.contains("cannot be reached"))
        #expect(!"\(error) \(error.userInfo)".contains("secret"))
    }

    private func failure(_ connection: String) throws -> String {
        let container = NSPersistentContainer(name: "Bookshop", managedObjectModel: Bookshop.model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(postgreSQLConnection: connection)]
        var found: (any Error)?
        container.loadPersistentStores { found = $1 }
        return try #require(found).localizedDescription
    }

    @Test("says what libpq does not know, unless that may be a part of a password")
    func unknownKeywords() throws {
        #expect(try failure("dbname=books nonsense=1").contains("nonsense"))
        #expect(try failure("postgresql://app@/books?nonsense=1").contains("nonsense"))
        for string in ["dbname=books password=my secret=1", "postgresql://app:my?secret=1@/books"] {
            #expect(try !failure(string).contains("secret"))
        }
    }

    @Test("refuses a schema without a name, and that of the descriptions")
    func unsuitableSchemas() throws {
        #expect(try failure(database.uri() + "&schema=").contains("is empty"))
        #expect(try failure(database.uri() + "&schema=pippin").contains("describes the stores"))
    }

    @Test("names the database in errors, given by a connection string, too")
    func databaseInErrors() throws {
        let url = NSPersistentStoreDescription(postgreSQLConnection: "host=/nowhere dbname=books").url
        #expect(url?.lastPathComponent == "books")
        #expect(try failure("host=/nowhere dbname=books").contains("“books”"))
    }

    @Test("goes by a connection string, too")
    func connectionString() throws {
        let container = NSPersistentContainer(name: "Bookshop", managedObjectModel: Bookshop.model)
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(
                postgreSQLConnection: "host=\(database.server.folder) dbname=\(database.name) user=postgres")
        ]
        container.loadPersistentStores { #expect($1 == nil) }
        #expect(try container.viewContext.fetch("Tag").isEmpty)
    }

    @Test("removes a store's tables, and no others")
    func destroying() throws {
        _ = try Bookshop.container(database)
        try database.connect().execute("CREATE TABLE mine (x int)")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model)
        try coordinator.destroyPersistentStore(at: database.url(), ofType: NSPostgreSQLStoreType, options: nil)
        #expect(
            try database.rows("SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'")
                == [["mine"]])
        #expect(try database.rows("SELECT * FROM pippin.stores").isEmpty)
    }

    @Test("goes on with a new connection when the old one is lost")
    func lostConnection() throws {
        let context = try Bookshop.container(database).viewContext
        _ = context.insert("Tag", ["name": "old"])
        try context.save()
        try database.connect().execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        context.reset()
        #expect(try context.fetch("Tag").count == 1)
    }

    @Test("goes on at another place, unless its options say where it is")
    func settingURL() throws {
        func fill(
            _ schema: String, _ name: String
        ) throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model)
            let store = try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(),
                options: [NSPostgreSQLSchemaOption: schema])
            let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            _ = context.insert("Author", ["name": name])
            try context.save()
            return (coordinator, store)
        }
        _ = try fill("one", "Ann")
        let (fixed, inSchema) = try fill("two", "Ben")
        let one = try #require(URL(string: database.url().absoluteString + "&schema=one"))
        #expect(!fixed.setURL(one, for: inSchema))
        #expect(inSchema.url == database.url())

        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model)
        let two = try #require(URL(string: database.url().absoluteString + "&schema=two"))
        let store = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: two,
            options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        #expect(coordinator.setURL(one, for: store))
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        #expect(try context.fetch("Author").compactMap { $0.value(forKey: "name") as? String } == ["Ann"])
    }
}
