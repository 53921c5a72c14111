import CoreData
import TestSupport
import Testing

/// Checks from the pages of `NSStagedMigrationManager`, its stages, and of deferred migration.
@MainActor @Suite("Documented: staged and deferred migration")
struct StagedDocumentationTests {
    private let folder: TestFolder
    private let first = Notebook.model()
    private let second = Notebook.model()
    private var url: URL { folder.file("Store") }

    init() throws {
        folder = try TestFolder()
        let context = try Library.container(first, NSPersistentStoreDescription(url: url)).viewContext
        context.make("Note", ["title": nil, "stars": 1])
        try context.save()
        second.entitiesByName["Note"]?.attributesByName["title"]?.isOptional = false
    }

    private func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    private func add(_ stages: [NSMigrationStage], _ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            type: .sqlite, at: url,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager(stages),
            ])
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("Stages have what they were made with, and an empty label")
    func making() {
        let custom = NSCustomMigrationStage(migratingFrom: reference(first), to: reference(second))
        #expect(custom.currentModel.resolvedModel === first && custom.nextModel.resolvedModel === second)
        #expect(custom.label == "" && custom.willMigrateHandler == nil && custom.didMigrateHandler == nil)
        let lightweight = NSLightweightMigrationStage([first.versionChecksum, second.versionChecksum])
        #expect(lightweight.versionChecksums == [first.versionChecksum, second.versionChecksum])
        let manager = NSStagedMigrationManager([lightweight, custom])
        #expect(manager.stages == [lightweight, custom] && manager.container == nil)
    }

    @Test("A custom stage's handlers run before and after it, with the store in the manager's container")
    func handlers() throws {
        let stage = NSCustomMigrationStage(migratingFrom: reference(first), to: reference(second))
        stage.label = "titles"
        nonisolated(unsafe) var calls: [String] = []  // called on this thread
        stage.willMigrateHandler = { manager, stage in
            calls.append("will \(stage.label ?? "")")
            let context = try #require(manager.container).newBackgroundContext()
            try context.performAndWait {
                for note in try context.all("Note") where note.value(forKey: "title") == nil {
                    note.setValue("untitled", forKey: "title")
                }
                try context.save()
            }
        }
        stage.didMigrateHandler = { manager, _ in
            let model = manager.container?.managedObjectModel
            calls.append("did \(model?.entitiesByName["Note"]?.attributesByName["title"]?.isOptional == false)")
        }
        let context = try add([stage], second)
        #expect(calls == ["will titles", "did true"])
        #expect(try context.all("Note").map { $0.shown("title") } == ["untitled"])
    }

    @Test("A store that is ahead of the model: NSStagedMigrationBackwardMigrationError")
    func backwards() throws {
        let third = Notebook.model()
        third.entitiesByName["Mark"]?.versionHashModifier = "3"
        _ = try add([NSLightweightMigrationStage([first.versionChecksum, third.versionChecksum])], third)
        let error = #expect(throws: NSError.self) {
            try add([NSLightweightMigrationStage([first.versionChecksum, third.versionChecksum])], first)
        }
        #expect(error?.code == NSStagedMigrationBackwardMigrationError)
    }

    @Test("A reference whose model cannot be found: NSManagedObjectModelReferenceNotFoundError")
    func missingReference() {
        let missing = NSManagedObjectModelReference(fileURL: folder.file("None.momd"), versionChecksum: "")
        let error = #expect(throws: NSError.self) {
            try add([NSCustomMigrationStage(migratingFrom: reference(first), to: missing)], second)
        }
        #expect(error?.code == NSManagedObjectModelReferenceNotFoundError)
    }

    @Test(
        "Deferred migration: the metadata say that tasks are left, until they are finished, one by one or all at once")
    func deferred() throws {
        let smaller = Notebook.model()
        smaller.entities = smaller.entities.filter { $0.name != "Mark" }
        if let note = smaller.entitiesByName["Note"] {
            note.properties = note.properties.filter { $0.name != "marks" && $0.name != "weight" }
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: smaller)
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url,
            options: [
                NSPersistentStoreDeferredLightweightMigrationOptionKey: true,
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ])
        let key = NSPersistentStoreDeferredLightweightMigrationOptionKey
        #expect(store.metadata[key] as? Bool == true)
        try coordinator.finishDeferredLightweightMigrationTask()
        try coordinator.finishDeferredLightweightMigration()
        #expect(store.metadata[key] as? Bool != true)
        #expect(try plainNumber("SELECT count(*) FROM sqlite_master WHERE name = 'ZMARK'", in: url) == 0)
    }

    @Test("NSMigrationError and its kin: a migration that cannot be inferred says so")
    func notInferred() {
        let other = Notebook.model()
        other.entitiesByName["Note"]?.attributesByName["title"]?.attributeType = .binaryDataAttributeType
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: other)
        let error = #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(
                type: .sqlite, at: url,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                ])
        }
        let codes = [NSMigrationMissingMappingModelError, NSInferredMappingModelError, NSMigrationError]
        #expect(codes.contains(error?.code ?? 0))
    }
}
