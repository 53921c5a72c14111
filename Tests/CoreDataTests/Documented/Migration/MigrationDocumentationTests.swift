import CoreData
import Testing

/// Checks from the pages of `NSMigrationManager`, `NSMappingModel`, `NSEntityMapping`, and of the options that migrate
/// a store when it is added.
@MainActor @Suite("Documented: migration")
struct MigrationDocumentationTests {
    private let file: Notebook.File

    init() throws {
        file = try Notebook.File()
        let context = try file.container().viewContext
        context.make("Note", ["title": "A", "stars": 3])
        try context.save()
    }

    private func changed(_ change: (NSManagedObjectModel) -> Void) -> NSManagedObjectModel {
        let model = Notebook.model()
        change(model)
        return model
    }

    private var renamed: NSManagedObjectModel {
        changed { model in
            guard let title = model.entitiesByName["Note"]?.attributesByName["title"] else { return }
            title.name = "heading"
            title.renamingIdentifier = "title"
        }
    }

    @Test("A mapping is inferred by names and renaming identifiers, an entity mapping an entity")
    func inferring() throws {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: Notebook.model(), destinationModel: renamed)
        let note = try #require(mapping.entityMappings.first { $0.destinationEntityName == "Note" })
        #expect(note.mappingType == .transformEntityMappingType && note.sourceEntityName == "Note")
        #expect(note.attributeMappings?.contains { $0.name == "heading" } == true)
        #expect(mapping.entityMappingsByName[note.name] === note)
        #expect(
            mapping.entityMappings.first { $0.destinationEntityName == "Folder" }?.mappingType == .copyEntityMappingType
        )
    }

    @Test("inferredMappingModel throws where no mapping can be inferred")
    func notInferred() {
        let model = changed { model in
            model.entitiesByName["Note"]?.attributesByName["title"]?.attributeType = .binaryDataAttributeType
        }
        #expect(throws: NSError.self) {
            try NSMappingModel.inferredMappingModel(forSourceModel: Notebook.model(), destinationModel: model)
        }
    }

    @Test("An entity that is new is an addition, one that is gone a removal")
    func additions() throws {
        let model = changed { model in
            model.entities = model.entities + [Library.entity("New", [Library.attribute("x", .stringAttributeType)])]
        }
        let there = try NSMappingModel.inferredMappingModel(forSourceModel: Notebook.model(), destinationModel: model)
        #expect(there.entityMappings.first { $0.destinationEntityName == "New" }?.mappingType == .addEntityMappingType)
        let back = try NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: Notebook.model())
        #expect(back.entityMappings.first { $0.sourceEntityName == "New" }?.mappingType == .removeEntityMappingType)
    }

    @Test("migrateStore makes a new store by a mapping, and leaves the old one as it was", arguments: [true, false])
    func migrating(specific: Bool) throws {
        let manager = NSMigrationManager(sourceModel: Notebook.model(), destinationModel: renamed)
        manager.usesStoreSpecificMigrationManager = specific
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
        let target = file.folder.file("New.sqlite")
        try manager.migrateStore(
            from: file.url, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: target,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
        #expect(manager.migrationProgress == 1)
        let context = try Library.container(manager.destinationModel, NSPersistentStoreDescription(url: target))
            .viewContext
        #expect(try context.all("Note").map { $0.shown("heading") } == ["A"])
        let old = try file.container().viewContext
        #expect(try old.all("Note").map { $0.shown("title") } == ["A"])
    }

    @Test("cancelMigrationWithError ends a migration with that error")
    func cancelling() throws {
        let manager = NSMigrationManager(sourceModel: Notebook.model(), destinationModel: renamed)
        manager.usesStoreSpecificMigrationManager = false
        manager.cancelMigrationWithError(CocoaError(.userCancelled))
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
        let error = #expect(throws: NSError.self) {
            try manager.migrateStore(
                from: file.url, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
                toDestinationURL: file.folder.file("New.sqlite"),
                destinationType: NSSQLiteStoreType,
                destinationOptions: nil)
        }
        #expect(error?.code == CocoaError.Code.userCancelled.rawValue)
    }

    private func add(_ options: [AnyHashable: Any]?, _ model: NSManagedObjectModel) throws {
        try NSPersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: file.url, options: options)
    }

    @Test("Without the options, a store of another model is not opened: NSPersistentStoreIncompatibleVersionHashError")
    func incompatible() {
        let error = #expect(throws: NSError.self) { try add(nil, renamed) }
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test(
        "With the option to migrate but not to infer, a mapping model is missing: NSMigrationMissingMappingModelError")
    func noMapping() {
        let error = #expect(throws: NSError.self) {
            try add([NSMigratePersistentStoresAutomaticallyOption: true], renamed)
        }
        #expect(error?.code == NSMigrationMissingMappingModelError || error?.code == NSMigrationMissingSourceModelError)
    }

    @Test("With both options, the store is migrated when it is added")
    func automatic() throws {
        try add(
            [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true], renamed)
        let context = try Library.container(renamed, NSPersistentStoreDescription(url: file.url)).viewContext
        #expect(try context.all("Note").map { $0.shown("heading") } == ["A"])
    }
}
