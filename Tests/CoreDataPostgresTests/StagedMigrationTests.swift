import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

@Suite("Stores in PostgreSQL are migrated in stages", .needsPostgres)
struct StagedMigrationTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase() }

    /// Authors with a full name as of the second version, which is mandatory as of the third, and without a name as of
    /// the fourth.
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
        _ version: Int, _ manager: NSStagedMigrationManager?, schema: String?, timeout: Int = 10
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(version))
        var options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = manager
        options[NSPostgreSQLSchemaOption] = schema
        options[NSPersistentStoreTimeoutOption] = timeout
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

    @Test("may have handlers that prepare what the next version makes mandatory", arguments: [nil, "books"])
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

    @Test("go on from the stage that failed")
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

    @Test("are not taken back where another program migrates them further meanwhile")
    func overtaken() throws {
        try makeStore(schema: nil)
        let fills = stages { author in
            author.setValue("x", forKey: "fullName")
            guard author.value(forKey: "name") as? String == "Ada" else { return }
            try author.managedObjectContext?.save()
        }
        // The other program comes after the stage's handler has saved everything.
        let custom = try #require(fills.stages.compactMap { $0 as? NSCustomMigrationStage }.first)
        let handler = try #require(custom.willMigrateHandler)
        custom.willMigrateHandler = { manager, stage in
            try handler(manager, stage)
            _ = try open(4, nil, schema: nil)
        }
        let generation = "SELECT generation FROM pippin.stores"
        let before = try #require(Int64(database.rows(generation)[0][0]))
        _ = try open(4, fills, schema: nil)
        #expect(try database.rows("SELECT full_name FROM author") == [["x"], ["x"]])
        let columns =
            "SELECT count(*) FROM information_schema.columns WHERE table_name = 'author' AND column_name = 'name'"
        #expect(try database.rows(columns) == [["0"]])
        // One migration for the stage's first version, and the other program's.
        #expect(try database.rows(generation) == [["\(before + 2)"]])
    }

    @Test("are migrated by one program at a time: another one waits for it, and gives up after its timeout")
    func alone() throws {
        try makeStore(schema: nil)
        var refusal: NSError?
        let fills = stages { $0.setValue("x", forKey: "fullName") }
        let custom = try #require(fills.stages.compactMap { $0 as? NSCustomMigrationStage }.first)
        let handler = try #require(custom.willMigrateHandler)
        custom.willMigrateHandler = { manager, stage in
            try handler(manager, stage)
            let others = self.stages { _ in Issue.record("The stages are run twice at a time.") }
            do { _ = try open(4, others, schema: nil, timeout: 1) } catch { refusal = error as NSError }
        }
        _ = try open(4, fills, schema: nil)
        #expect(refusal?.code == 134090)
        #expect(try database.rows("SELECT full_name FROM author") == [["x"], ["x"]])
    }
}
