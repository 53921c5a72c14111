import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine

@Suite("Staged migration")
struct StagedMigrationTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try Town.makeStore(at: folder.store)
    }

    // MARK: The plan

    private let stages: [StagedPlan.Stage] = [
        .lightweight(["1", "2"]), .custom(from: "2", to: "3"), .lightweight(["3", "4"]), .custom(from: "4", to: "5"),
    ]

    private func steps(from store: String, to model: String) -> [Int]? {
        try? StagedPlan(stages, from: store, to: model).customStages
    }

    @Test("A store goes through the custom stages that lie between its version and the model's")
    func plan() {
        #expect(steps(from: "1", to: "5") == [1, 3])
        #expect(steps(from: "2", to: "3") == [1])
        #expect(steps(from: "3", to: "5") == [3])
        #expect(steps(from: "3", to: "4") == [])
        #expect(steps(from: "1", to: "2") == [])
        #expect(steps(from: "5", to: "5") == [])
    }

    @Test("Unknown versions and ways back are told apart")
    func failures() {
        #expect(throws: StagedPlan.Obstacle.unknownStoreVersion) { try StagedPlan(stages, from: "9", to: "5") }
        #expect(throws: StagedPlan.Obstacle.unknownModelVersion) { try StagedPlan(stages, from: "1", to: "9") }
        #expect(throws: StagedPlan.Obstacle.backward) { try StagedPlan(stages, from: "4", to: "2") }
    }

    // MARK: The migration

    /// The town, with full names as of its second version, and mandatory ones as of the third.
    private func model(_ version: Int) -> NSManagedObjectModel {
        let model = Town.model()
        if version >= 2 { model.add(makeAttribute("full", .stringAttributeType), to: "Person") }
        if version >= 3 { model.attribute("Person", "full").isOptional = false }
        if version >= 4 { model.removeProperty("nick", of: "Person") }
        if version >= 5 { model.add(makeAttribute("email", .stringAttributeType), to: "Person") }
        return model
    }

    private func reference(_ version: Int) -> NSManagedObjectModelReference {
        let model = model(version)
        return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    private func custom(_ body: @escaping (NSManagedObjectContext) throws -> Void) -> NSCustomMigrationStage {
        let stage = NSCustomMigrationStage(migratingFrom: reference(2), to: reference(3))
        stage.label = "full names"
        stage.willMigrateHandler = { manager, _ in
            guard let container = manager.container else { throw CocoaError(.coderInvalidValue) }
            let context = container.newBackgroundContext()
            try context.performAndWait {
                try body(context)
                try context.save()
            }
        }
        return stage
    }

    /// Opens the store with a version of the model, migrates it by stages or by inference, and closes it again.
    private func add(
        _ stages: [NSMigrationStage]?, _ version: Int, timeout: Int = 10,
        _ body: (NSManagedObjectContext) throws -> Void = { _ in }
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(version))
        var options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            NSPersistentStoreTimeoutOption: timeout,
        ]
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = stages.map(NSStagedMigrationManager.init)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try body(context) }
        try coordinator.remove(store)
    }

    @Test("A custom stage's handler prepares the data that the next version makes mandatory")
    func customStage() throws {
        let stage = custom { context in
            for person in try context.all("Person") {
                person.setValue("\(person.string("name") ?? "") X", forKey: "full")
            }
        }
        try add(
            [
                NSLightweightMigrationStage([model(1).versionChecksum, model(2).versionChecksum]), stage,
                NSLightweightMigrationStage([model(3).versionChecksum, model(4).versionChecksum]),
            ], 4)
        #expect(try plainSQL("SELECT ZFULL FROM ZPERSON ORDER BY 1", in: folder.store) == ["Ann X", "Bob X", "Cid X"])
    }

    @Test("A handler that fails leaves the store at the version before its stage, and the next try goes on from there")
    func failingStage() throws {
        let first = NSLightweightMigrationStage([model(1).versionChecksum, model(2).versionChecksum])
        var failure: NSError?
        do { try add([first, custom { _ in throw CocoaError(.userCancelled) }], 3) } catch {
            failure = error as NSError
        }
        #expect(failure?.userInfo["stage"] as? String == "full names")
        #expect(
            try plainSQL("SELECT name FROM pragma_table_info('ZPERSON') WHERE name = 'ZFULL'", in: folder.store) == [
                "ZFULL"
            ])
        let stage = custom { context in
            for person in try context.all("Person") { person.setValue("x", forKey: "full") }
        }
        try add([first, stage], 3)
        #expect(try plainSQL("SELECT ZFULL FROM ZPERSON", in: folder.store) == ["x", "x", "x"])
    }

    @Test("A version that no stage has is refused: 134504")
    func unknown() throws {
        var failure: NSError?
        do { try add([NSLightweightMigrationStage(["a", model(2).versionChecksum])], 2) } catch {
            failure = error as NSError
        }
        #expect(failure?.code == 134504)
        #expect(failure?.userInfo["reason"] as? String == "Cannot use staged migration with an unknown model version.")
    }

    /// The stages up to the fifth version.
    private func stages(_ body: @escaping (NSManagedObjectContext) throws -> Void) -> [NSMigrationStage] {
        [
            NSLightweightMigrationStage([model(1).versionChecksum, model(2).versionChecksum]), custom(body),
            NSLightweightMigrationStage([3, 4, 5].map { model($0).versionChecksum }),
        ]
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        for person in try context.all("Person") { person.setValue("x", forKey: "full") }
        try context.save()
    }

    @Test("A store that another program migrates further meanwhile is not taken back, and loses nothing")
    func overtaken() throws {
        let stages = stages { context in
            try fill(context)
            try add(nil, 5) { other in
                let ann = try #require(other.all("Person", NSPredicate(format: "name == 'Ann'")).first)
                ann.setValue("ann@example.org", forKey: "email")
                try other.save()
            }
        }
        try add(stages, 5)
        #expect(
            try plainSQL("SELECT ZEMAIL FROM ZPERSON WHERE ZNAME = 'Ann'", in: folder.store) == ["ann@example.org"])
    }

    @Test("One program at a time runs the stages: another one waits for it, and gives up after its timeout")
    func alone() throws {
        var refusal: NSError?
        let stages = stages { context in
            try fill(context)
            let others = self.stages { _ in Issue.record("The stages are run twice at a time.") }
            do { try add(others, 5, timeout: 1) } catch { refusal = error as NSError }
        }
        try add(stages, 5)
        #expect(refusal?.code == 134090)
        #expect(try plainSQL("SELECT ZFULL FROM ZPERSON", in: folder.store) == ["x", "x", "x"])
        try add(stages, 5)
    }

    @Test("A handler may migrate the store by a mapping model, which makes a new file")
    func mappedInHandler() throws {
        let stages = stages { context in
            try fill(context)
            let mapping = try NSMappingModel.inferredMappingModel(
                forSourceModel: model(2), destinationModel: model(3))
            let known = KnownVersions(
                [2, 3].map { KnownVersion(name: "Town \($0)", model: model($0)) },
                mappings: [NamedMapping(name: "Names", mapping: mapping)])
            let options = [NSPersistentStoreTimeoutOption: 1]
            try ProgressiveMigration(at: folder.store, to: model(3), over: known, options: options).run()
        }
        try add(stages, 5)
        #expect(try plainSQL("SELECT ZFULL, ZEMAIL FROM ZPERSON", in: folder.store) == ["x|", "x|", "x|"])
    }
}
