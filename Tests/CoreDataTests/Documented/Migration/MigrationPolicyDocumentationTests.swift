import CoreData
import TestSupport
import Testing

/// Checks from the pages of `NSEntityMigrationPolicy`, `NSMigrationManager`, `NSMappingModel`, `NSEntityMapping` and
/// `NSPropertyMapping`.
@MainActor @Suite("Documented: migration object by object")
struct MigrationPolicyDocumentationTests {
    private let folder: TestFolder
    private let source = Notebook.model()
    private let destination = Notebook.model()
    private var old: URL { folder.file("Old") }
    private var new: URL { folder.file("New") }

    init() throws {
        folder = try TestFolder()
        let context = try Library.container(Notebook.model(), NSPersistentStoreDescription(url: old)).viewContext
        let parent = context.make("Folder", ["name": "F"])
        context.make("Note", ["title": "A", "folder": parent])
        context.make("Note", ["title": "B", "folder": parent])
        try context.save()
    }

    private func inferred() throws -> (NSMappingModel, note: NSEntityMapping) {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        return (mapping, try #require(mapping.entityMappings.first { $0.destinationEntityName == "Note" }))
    }

    private func migrate(_ mapping: NSMappingModel, _ manager: NSMigrationManager? = nil) throws {
        let manager = manager ?? NSMigrationManager(sourceModel: source, destinationModel: destination)
        manager.usesStoreSpecificMigrationManager = false
        try manager.migrateStore(
            from: old, type: .sqlite, options: nil, mapping: mapping, to: new, type: .sqlite, options: nil)
    }

    private func titles() throws -> [String] {
        let context = try Library.container(destination, NSPersistentStoreDescription(url: new)).viewContext
        return try context.all("Note", by: "title").map { $0.shown("title") }
    }

    // MARK: Policies

    @Test("A policy is called in three stages: creation, relationships, validation; associations are known meanwhile")
    func stages() throws {
        let (mapping, note) = try inferred()
        note.entityMigrationPolicyClassName = NSStringFromClass(TellingMigrationPolicy.self)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        let log = NSMutableArray()
        manager.userInfo = ["log": log]
        try migrate(mapping, manager)
        let wanted = [
            "begin true", "create 1 true", "create 1 true", "created", "relate 1 true", "relate 1 true", "related",
            "validate", "end Note 3",
        ]
        #expect(log.compactMap { $0 as? String } == wanted)
    }

    @Test("A policy may make other objects than the default one does, when it associates them itself")
    func doubling() throws {
        let (mapping, note) = try inferred()
        note.entityMigrationPolicyClassName = NSStringFromClass(DoublingMigrationPolicy.self)
        try migrate(mapping)
        #expect(try titles() == ["A1", "A2", "B1", "B2"])
        #expect(throws: NSError.self) { try NSEntityMigrationPolicy().callFunction("none", arguments: []) }
    }

    // MARK: Mappings

    @Test("A property mapping: the destination's property, and an expression of the source object for its value")
    func propertyMappings() throws {
        let (mapping, note) = try inferred()
        note.mappingType = .transformEntityMappingType
        let title = try #require(note.attributeMappings?.first { $0.name == "title" })
        #expect(title.userInfo == nil && title.valueExpression != nil)
        title.userInfo = ["why": "loud"]
        #expect(title.userInfo?["why"] as? String == "loud")
        title.valueExpression = NSExpression(forConstantValue: "constant")
        try migrate(mapping)
        #expect(try titles() == ["constant", "constant"])
    }

    @Test("sourceExpression: the collection of source objects that a mapping goes through")
    func sourceExpressions() throws {
        let (mapping, note) = try inferred()
        note.mappingType = .transformEntityMappingType
        note.sourceExpression = NSExpression(
            format:
                "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Note', \"title == 'A'\"), $manager.sourceContext, NO)"
        )
        try migrate(mapping)
        #expect(try titles() == ["A"])
    }

    @Test(
        "An entity mapping: name, type, entities with their version hashes, mappings of properties, the developer's facts"
    )
    func entityMappings() throws {
        let new = NSEntityMapping()
        #expect(new.mappingType == .undefinedEntityMappingType && new.userInfo == nil && new.sourceExpression == nil)
        #expect(new.entityMigrationPolicyClassName == nil && new.attributeMappings == nil)
        new.sourceEntityName = "Old"
        new.destinationEntityName = "New"
        #expect(new.name == "Old->New")
        new.name = "mine"
        new.userInfo = ["a": 1]
        #expect(new.name == "mine" && new.userInfo?["a"] as? Int == 1)
        let (_, note) = try inferred()
        #expect(note.sourceEntityVersionHash == source.entitiesByName["Note"]?.versionHash)
        #expect(note.destinationEntityVersionHash == destination.entitiesByName["Note"]?.versionHash)
        #expect(note.relationshipMappings?.isEmpty == false)
    }

    @Test("The types of entity mappings")
    func mappingTypes() {
        let types: [(NSEntityMappingType, UInt)] = [
            (.undefinedEntityMappingType, 0), (.customEntityMappingType, 1), (.addEntityMappingType, 2),
            (.removeEntityMappingType, 3), (.copyEntityMappingType, 4), (.transformEntityMappingType, 5),
        ]
        for (type, number) in types { #expect(type.rawValue == number) }
    }

    @Test("A mapping model: entityMappings are gone through in their order; entityMappingsByName has them by name")
    func mappingModels() throws {
        let (mapping, note) = try inferred()
        mapping.entityMappings = [note]
        #expect(mapping.entityMappingsByName == [note.name: note])
        #expect(NSMappingModel(contentsOf: folder.file("None.cdm")) == nil)
        #expect(NSMappingModel(from: [], forSourceModel: source, destinationModel: destination) == nil)
    }

    // MARK: The manager

    @Test("A manager: its models, its entities by mapping, and the progress, which is 1 while nothing is migrated")
    func managers() throws {
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        #expect(manager.sourceModel === source && manager.destinationModel === destination)
        #expect(manager.usesStoreSpecificMigrationManager && manager.userInfo == nil && manager.migrationProgress == 1)
        let (mapping, note) = try inferred()
        try migrate(mapping, manager)
        #expect(manager.migrationProgress == 1)
        #expect(manager.sourceEntity(for: note)?.name == "Note" && manager.destinationEntity(for: note)?.name == "Note")
        manager.reset()
        #expect(throws: NSError.self) { try manager.callFunction("none", arguments: []) }
    }

    @Test("A manager tells a subclass before and after its progress changes")
    func progress() throws {
        final class Telling: NSMigrationManager {
            var told = 0
            override func willChangeValue(forKey key: String) { told += 1 }
            override func didChangeValue(forKey key: String) { told -= 1 }
        }
        let manager = Telling(sourceModel: source, destinationModel: destination)
        try migrate(try inferred().0, manager)
        #expect(manager.told == 0)
    }

    @Test("migrateStore: a store must be at the source; one that is at the destination gets the objects in addition")
    func appending() throws {
        let (mapping, _) = try inferred()
        try migrate(mapping)
        try migrate(mapping)
        #expect(try titles() == ["A", "A", "B", "B"])
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        let error = #expect(throws: NSError.self) {
            try manager.migrateStore(
                from: folder.file("None"), type: .sqlite, mapping: mapping, to: folder.file("Other"), type: .sqlite)
        }
        #expect(error?.code == NSMigrationManagerSourceStoreError)
    }

    @Test("Keys by which expressions find what takes part in a migration")
    func keys() {
        let keys = [
            NSMigrationManagerKey, NSMigrationSourceObjectKey, NSMigrationDestinationObjectKey,
            NSMigrationEntityMappingKey, NSMigrationPropertyMappingKey, NSMigrationEntityPolicyKey,
        ]
        #expect(keys == ["manager", "source", "destination", "entityMapping", "propertyMapping", "entityPolicy"])
    }
}
