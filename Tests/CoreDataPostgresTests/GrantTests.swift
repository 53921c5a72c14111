import CoreDataPostgres
import Foundation
import PostgresConnection
import PostgresServer
import Testing

@Suite("The rights on tables that a migration makes anew", .needsPostgres)
struct GrantTests {
    let database: TestDatabase
    private let reader: String
    private let writer: String

    init() throws {
        database = try TestDatabase()
        (reader, writer) = ("reader_\(database.name)", "writer_\(database.name)")
        let context = try Bookshop.container(database).viewContext
        _ = context.insert("Book", ["title": "Notes", "author": context.insert("Author", ["name": "Ada"])])
        try context.save()
        try database.connect().execute(
            """
            CREATE ROLE \(reader); CREATE ROLE \(writer); GRANT SELECT ON author TO \(reader); GRANT UPDATE ON book TO \(reader);
            GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO \(writer);
            GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO \(writer)
            """)
    }

    private func may(_ role: String, _ right: String, _ table: String) throws -> Bool {
        try database.rows("SELECT has_table_privilege('\(role)', 'public.\(table)', '\(right)')::text") == [["true"]]
    }

    private func open(_ model: NSManagedObjectModel, _ stages: NSStagedMigrationManager? = nil) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = stages
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(), options: options)
    }

    /// Who could do what can do it still, and nothing else.
    private func check(_ place: SourceLocation = #_sourceLocation) throws {
        #expect(try may(reader, "SELECT", "author"), sourceLocation: place)
        #expect(try !may(reader, "UPDATE", "author"), sourceLocation: place)
        #expect(try may(reader, "UPDATE", "book"), sourceLocation: place)
        for table in ["book", "tag", "book_tags"] {
            #expect(try !may(reader, "SELECT", table), "\(table)", sourceLocation: place)
            #expect(try may(writer, "INSERT", table), "\(table)", sourceLocation: place)
        }
        #expect(
            try database.rows(
                "SELECT has_sequence_privilege('\(writer)', pg_get_serial_sequence('public.book', '_id'), 'USAGE')::text"
            )
                == [["true"]], sourceLocation: place)
    }

    @Test("are those on the tables whose rows they take")
    func rebuilding() throws {
        let model = Bookshop.make(hasTags: true)
        for entity in model.entities {
            // Tables that are divided are made anew.
            entity.userInfo = ["PippinPartitions": "hash 2"]
            entity.uniquenessConstraints = []
            entity.versionHashModifier = "divided"
        }
        try open(model)
        #expect(try database.rows("SELECT relname FROM pg_class WHERE relkind = 'p'").count == 3)
        try check()
    }

    @Test("are those on the tables of the same name where a store is made anew as a whole")
    func successor() throws {
        let model = Bookshop.make(hasTags: true)
        let added = NSAttributeDescription()
        (added.name, added.attributeType, added.isOptional) = ("initial", .stringAttributeType, true)
        model.entitiesByName["Author"]?.properties.append(added)
        let references = [Bookshop.model, model].map {
            NSManagedObjectModelReference(model: $0, versionChecksum: $0.versionChecksum)
        }
        let stage = NSCustomMigrationStage(migratingFrom: references[0], to: references[1])
        stage.label = "initials"
        stage.didMigrateHandler = { _, _ in }
        try open(model, NSStagedMigrationManager([stage]))
        #expect(try database.rows("SELECT initial FROM author") == [["null"]])
        try check()
    }

    @Test("grant on new rows what they grant on all tables")
    func adding() throws {
        let model = Bookshop.make(hasTags: true)
        let shop = NSEntityDescription()
        shop.name = "Shop"
        let name = NSAttributeDescription()
        (name.name, name.attributeType, name.isOptional) = ("name", .stringAttributeType, true)
        shop.properties = [name]
        model.entities.append(shop)
        try open(model)
        #expect(try may(writer, "INSERT", "shop"))
        #expect(try !may(reader, "SELECT", "shop"))
        try check()
    }
}
