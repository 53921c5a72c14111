import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

@Suite("Stores in PostgreSQL are migrated in stages", .needsPostgres)
struct StagedMigrationTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase() }

    /// Authors with a full name as of the second version, which is mandatory as of the third, and without a name as of the fourth.
    private func model(_ version: Int) -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        (entity.name, entity.managedObjectClassName) = ("Author", "NSManagedObject")
        var names = version < 4 ? ["name"] : []
        if version >= 2 { names.append("fullName") }
        entity.properties = names.map { name in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = (name, .stringAttributeType)
            attribute.isOptional = name == "name" || version < 3
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    private func reference(_ version: Int) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: model(version), versionChecksum: model(version).versionChecksum)
    }

    /// Two lightweight stages, and one between them that has a handler fill in full names.
    private func stages(_ fill: @escaping (NSManagedObject) throws -> Void) -> NSStagedMigrationManager {
        let custom = NSCustomMigrationStage(migratingFrom: reference(2), to: reference(3))
        custom.label = "full names"
        custom.willMigrateHandler = { manager, _ in
            let context = try #require(manager.container).newBackgroundContext()
            try context.performAndWait {
                for author in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")) {
                    try fill(author)
                }
                try context.save()
            }
        }
        return NSStagedMigrationManager([
            NSLightweightMigrationStage([model(1).versionChecksum, model(2).versionChecksum]), custom,
            NSLightweightMigrationStage([model(3).versionChecksum, model(4).versionChecksum]),
        ])
    }

    private func open(
        _ version: Int, _ manager: NSStagedMigrationManager?, schema: String?
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(version))
        var options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = manager
        options[NSPostgreSQLSchemaOption] = schema
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(), options: options)
        return coordinator
    }

    private func makeStore(schema: String?) throws {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = try open(1, nil, schema: schema)
        for name in ["Ada", "Ben"] { _ = context.insert("Author", ["name": name]) }
        try context.save()
    }

    @Test("whose handlers prepare what the next version makes mandatory", arguments: [nil, "books"])
    func stages(schema: String?) throws {
        try makeStore(schema: schema)
        let manager = stages { $0.setValue("\($0.value(forKey: "name") as? String ?? "") X", forKey: "fullName") }
        _ = try open(4, manager, schema: schema)
        #expect(
            try database.rows("SELECT full_name FROM \(schema ?? "public").author ORDER BY 1") == [
                ["Ada X"], ["Ben X"],
            ])
        let columns =
            "SELECT count(*) FROM information_schema.columns WHERE table_name = 'author' AND column_name = 'name'"
        #expect(try database.rows(columns) == [["0"]])
    }

    @Test("and go on from the stage that failed")
    func failure() throws {
        try makeStore(schema: nil)
        let failing = stages { _ in throw CocoaError(.userCancelled) }
        let error = #expect(throws: NSError.self) { _ = try open(4, failing, schema: nil) }
        #expect(error?.userInfo["stage"] as? String == "full names")
        #expect(
            try database.rows("SELECT count(name) AS names, count(full_name) AS full_names FROM author") == [
                ["2", "0"]
            ])
        _ = try open(4, stages { $0.setValue("x", forKey: "fullName") }, schema: nil)
        #expect(try database.rows("SELECT full_name FROM author") == [["x"], ["x"]])
    }
}
