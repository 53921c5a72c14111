import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

@Suite("A store that is made anew beside itself", .needsPostgres)
struct SuccessorNameTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase() }

    private func model(_ version: Int) -> NSManagedObjectModel {
        let model = Bookshop.make(hasTags: true)
        for number in 1..<version {
            let added = NSAttributeDescription()
            (added.name, added.attributeType, added.isOptional) = ("added\(number)", .stringAttributeType, true)
            model.entitiesByName["Author"]?.properties.append(added)
        }
        return model
    }

    private func open(_ version: Int, schema: String?, _ stages: NSStagedMigrationManager? = nil) throws
        -> NSManagedObjectContext
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(version))
        var options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = stages
        options[NSPostgreSQLSchemaOption] = schema
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(), options: options)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Two steps, each with a handler.
    private func migrate(schema: String?) throws -> [String?] {
        let first = try open(1, schema: schema)
        _ = first.insert("Author", ["name": "Ada"])
        try first.save()
        let references = (1...3).map {
            NSManagedObjectModelReference(model: model($0), versionChecksum: model($0).versionChecksum)
        }
        let stages = zip(references, references.dropFirst()).enumerated().map { index, pair in
            let stage = NSCustomMigrationStage(migratingFrom: pair.0, to: pair.1)
            stage.label = "\(index)"
            stage.didMigrateHandler = { _, _ in }
            return stage
        }
        let migrated = try open(3, schema: schema, NSStagedMigrationManager(stages))
        return try migrated.fetch("Author").map { $0.value(forKey: "name") as? String }
    }

    @Test("takes no schema of others for its own, and leaves it as it is")
    func foreign() throws {
        let administrator = try database.connect()
        for number in 1...3 {
            try administrator.execute(
                """
                CREATE SCHEMA public_successor_\(number);
                CREATE TABLE public_successor_\(number).theirs AS SELECT \(number) AS n
                """)
        }
        #expect(try migrate(schema: nil) == ["Ada"])
        for number in 1...3 {
            #expect(try database.rows("SELECT n FROM public_successor_\(number).theirs") == [["\(number)"]])
        }
        #expect(
            try database.rows("SELECT count(*) FROM pg_namespace WHERE nspname LIKE '%successor%'") == [["3"]])
    }

    @Test("may have a long name", arguments: [51, 52, 55, 62, 63])
    func long(count: Int) throws {
        let schema = String(repeating: "s", count: count)
        #expect(try migrate(schema: schema) == ["Ada"])
        #expect(try database.rows("SELECT schema_name FROM pippin.stores") == [[schema]])
        #expect(
            try database.rows("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 's%' AND nspname <> '\(schema)'")
                == [["0"]])
    }

    @Test("is refused where its name is longer than the server's names are")
    func tooLong() throws {
        let error = #expect(throws: NSError.self) { _ = try open(1, schema: String(repeating: "ä", count: 32)) }
        #expect(error?.localizedDescription.contains("63") == true)
    }
}
