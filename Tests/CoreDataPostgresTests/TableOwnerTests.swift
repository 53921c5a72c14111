import CoreDataPostgres
import Foundation
import MigrationPlans
import PostgresConnection
import PostgresEngine
import PostgresServer
import Testing

@Suite("The owner of a store's tables", .needsPostgres)
struct TableOwnerTests {
    private let database: TestDatabase
    private let owner: String

    init() throws {
        database = try TestDatabase()
        owner = "owner_\(database.name)"
        try database.connect().execute(
            """
            CREATE ROLE \(owner) LOGIN; GRANT CREATE ON DATABASE \(database.name) TO \(owner);
            GRANT CREATE, USAGE ON SCHEMA public TO \(owner)
            """)
        try insert("here", Bookshop.container(database, user: owner).viewContext)
    }

    private func insert(_ name: String, _ context: NSManagedObjectContext) throws {
        _ = context.insert("Author", ["name": name])
        try context.save()
    }

    private func open(_ model: NSManagedObjectModel, _ stages: NSStagedMigrationManager? = nil) throws {
        var options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = stages
        try NSPersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(), options: options)
    }

    /// Whose the tables, partitions, indexes and sequences are.
    private func owners() throws -> [[String]] {
        try database.rows(
            "SELECT DISTINCT pg_get_userbyid(relowner)::text FROM pg_class WHERE relnamespace = 'public'::regnamespace")
    }

    private func replace(user: String = "postgres") throws {
        let backup = try #require(URL(string: database.uri(user: user) + "&schema=backup"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model)
        let store = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: backup)
        try coordinator.remove(store)
        try coordinator.replacePersistentStore(
            at: database.url(user: user), destinationOptions: nil, withPersistentStoreFrom: backup, sourceOptions: nil,
            ofType: NSPostgreSQLStoreType)
    }

    @Test("is who it was after another role has replaced the store")
    func replacing() throws {
        try replace()
        #expect(try owners() == [[owner]])
        let context = try Bookshop.container(database, user: owner).viewContext
        try insert("again", context)
        #expect(try context.fetch("Author").count == 1)
    }

    @Test("can still use them where the role that replaces the store may not make it their owner")
    func stranger() throws {
        let stranger = "stranger_\(database.name)"
        try database.connect().execute(
            """
            CREATE ROLE \(stranger) LOGIN; GRANT CREATE ON DATABASE \(database.name) TO \(stranger);
            GRANT USAGE ON SCHEMA pippin TO \(stranger); GRANT ALL ON ALL TABLES IN SCHEMA pippin TO \(stranger);
            ALTER SCHEMA public OWNER TO \(stranger)
            """)
        try replace(user: stranger)
        let context = try Bookshop.container(database, user: owner).viewContext
        try insert("again", context)
        #expect(try context.fetch("Author").count == 1)
    }

    /// With divided tables, which are made anew, and an entity and a relationship more.
    private func newModel() -> NSManagedObjectModel {
        let model = Bookshop.make(hasTags: true)
        for entity in model.entities {
            entity.userInfo = ["PippinPartitions": "hash 2"]
            entity.uniquenessConstraints = []
            entity.versionHashModifier = "divided"
        }
        let shop = NSEntityDescription()
        shop.name = "Shop"
        let books = NSRelationshipDescription()
        (books.name, books.maxCount, books.destinationEntity) = ("books", 0, model.entitiesByName["Book"])
        let shops = NSRelationshipDescription()
        (shops.name, shops.maxCount, shops.destinationEntity) = ("shops", 0, shop)
        (books.inverseRelationship, shops.inverseRelationship) = (shops, books)
        shop.properties = [books]
        model.entitiesByName["Book"]?.properties.append(shops)
        model.entities.append(shop)
        return model
    }

    @Test("is who it was after another role has migrated the store, and owns new tables, too")
    func migrating() throws {
        try open(newModel())
        #expect(try database.rows("SELECT relname FROM pg_class WHERE relkind = 'p'").count == 3)
        #expect(try database.rows("SELECT name FROM author") == [["here"]])
        #expect(try owners() == [[owner]])
    }

    @Test("is who it was after another role has run the statements that the owner has planned")
    func script() throws {
        let (former, model) = (Bookshop.model, newModel())
        let migration = InferredMigration(
            from: former, to: model, plan: try MappingInference.plan(from: former, to: model))
        let url = database.url(user: owner)
        let script = try PostgresFormat.script(of: migration, at: url)
        try database.connect().execute(script)
        #expect(try database.rows("SELECT relname FROM pg_class WHERE relkind = 'p'").count == 3)
        #expect(try owners() == [[owner]])
    }

    @Test("is who it was after another role has migrated the store in stages")
    func stages() throws {
        let model = Bookshop.make(hasTags: true)
        let added = NSAttributeDescription()
        (added.name, added.attributeType, added.isOptional) = ("initial", .stringAttributeType, true)
        model.entitiesByName["Author"]?.properties.append(added)
        model.entitiesByName["Author"]?.userInfo = ["PippinPartitions": "hash 2"]
        let references = [Bookshop.model, model].map {
            NSManagedObjectModelReference(model: $0, versionChecksum: $0.versionChecksum)
        }
        let stage = NSCustomMigrationStage(migratingFrom: references[0], to: references[1])
        stage.label = "initials"
        stage.didMigrateHandler = { _, _ in }
        try open(model, NSStagedMigrationManager([stage]))
        #expect(try database.rows("SELECT initial FROM author") == [["null"]])
        #expect(try database.rows("SELECT relname FROM pg_class WHERE relkind = 'p'").count == 1)
        #expect(try owners() == [[owner]])
    }
}
