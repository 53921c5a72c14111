import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

@Suite("A store that cannot move to a server", .needsPostgres)
struct FailedMoveTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase() }

    private func filled(_ type: String, _ url: URL) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        _ = context.insert("Author", ["name": "Ada\u{0}"])
        try context.save()
        return coordinator
    }

    private let archive: [AnyHashable: Any] = [NSPostgreSQLSchemaOption: "archive"]

    @Test("leaves the others there as they are: its schema has a table of that name")
    func taken() throws {
        let here = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model)
        let store = try here.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url())
        try database.connect().execute("CREATE SCHEMA archive; CREATE TABLE archive.author (name text)")
        #expect(throws: NSError.self) {
            try here.migratePersistentStore(
                store, to: database.url(), options: archive, withType: NSPostgreSQLStoreType)
        }
        #expect(try database.rows("SELECT count(*) FROM public.author") == [["0"]])
        #expect(try database.rows("SELECT count(*) FROM archive.author") == [["0"]])
        #expect(here.persistentStores == [store])
    }

    @Test("stays as it is, with the other stores, when its migration fails there")
    func migration() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-\(UUID().uuidString).sqlite")
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try Bookshop.container(database)
        let model = Bookshop.model
        _ = try filled(NSSQLiteStoreType, file)
        #expect(throws: NSError.self) {
            try NSMigrationManager(sourceModel: model, destinationModel: model).migrateStore(
                from: file, sourceType: NSSQLiteStoreType, options: nil,
                with: NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model),
                toDestinationURL: database.url(), destinationType: NSPostgreSQLStoreType, destinationOptions: archive)
        }
        #expect(try database.rows("SELECT schema_name FROM pippin.stores") == [["public"]])
        #expect(try database.rows("SELECT count(*) FROM public.author") == [["0"]])
    }

    @Test("leaves nothing of itself there: a text cannot be kept")
    func refused() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-\(UUID().uuidString).sqlite")
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try Bookshop.container(database)
        let coordinator = try filled(NSSQLiteStoreType, file)
        let store = try #require(coordinator.persistentStores.first)
        #expect(throws: NSError.self) {
            try coordinator.migratePersistentStore(
                store, to: database.url(), options: archive, withType: NSPostgreSQLStoreType)
        }
        #expect(try database.rows("SELECT schema_name FROM pippin.stores") == [["public"]])
        #expect(try database.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'archive'").isEmpty)
        #expect(try database.rows("SELECT count(*) FROM public.author") == [["0"]])
    }
}
