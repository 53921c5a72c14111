import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import MigrationPlans

@Suite("Stores of a configuration, and several programs, in migrations over versions")
struct ConfiguredMigrationTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// The town, with its log in a store of its own; from the second version on, messages and nicknames are in
    /// capitals.
    private static func model(_ version: Int) -> NSManagedObjectModel {
        let model = Town.model()
        if version >= 2 {
            model.removeProperty("message", of: "Log")
            model.add(makeAttribute("shout", .stringAttributeType), to: "Log")
            model.removeProperty("nick", of: "Person")
        }
        if version >= 3 { model.add(makeAttribute("number", .integer16AttributeType), to: "Log") }
        let logs = ["Log", "Alarm"].map(model.entity)
        model.setEntities(logs, forConfigurationName: "Logs")
        model.setEntities(model.entities.filter { !logs.contains($0) }, forConfigurationName: "People")
        model.versionIdentifiers = ["\(version)"]
        return model
    }

    private static func version(_ number: Int) -> KnownVersion {
        KnownVersion(name: "Town \(number)", model: model(number))
    }

    /// By this mapping model version 1 becomes version 2.
    private static func shouting() throws -> NamedMapping {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model(1), destinationModel: model(2))
        for entity in mapping.entityMappings {
            entity.attributeMappings?.first { $0.name == "shout" }?.valueExpression = NSExpression(
                format: "FUNCTION($source.message, 'uppercaseString')")
        }
        return NamedMapping(name: "Shouting", mapping: mapping)
    }

    private static func known() throws -> KnownVersions {
        KnownVersions((1...3).map(version), mappings: [try shouting()])
    }

    /// Opens the store with a version of the model, over the known versions, and closes it again.
    private func open(
        _ version: Int, _ configuration: String?, of type: String = NSSQLiteStoreType,
        _ body: (NSManagedObjectContext) throws -> Void = { _ in }
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(version))
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: configuration, at: folder.store,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                PippinProgressiveMigrationOptionKey: try Self.known(),
            ])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            try body(context)
            if context.hasChanges { try context.save() }
        }
        try coordinator.remove(store)
    }

    private func fill(_ context: NSManagedObjectContext) {
        context.make("Log", ["message": "one"])
        context.make("Alarm", ["message": "fire", "loudness": 11])
    }

    private func messages(_ version: Int, _ configuration: String?, of type: String = NSSQLiteStoreType) throws
        -> [String]
    {
        var found: [String] = []
        try open(version, configuration, of: type) { context in
            found = try context.all("Log").map { "\($0.entity.name ?? "") \($0.string("shout") ?? "")" }.sorted()
        }
        return found
    }

    @Test(
        "A store of a configuration is migrated by a mapping model for all entities", arguments: [2, 3],
        [NSSQLiteStoreType, NSXMLStoreType])
    func mapped(version: Int, type: String) throws {
        // A document takes one step at a time.
        guard type == NSSQLiteStoreType || version == 2 else { return }
        try open(1, "Logs", of: type, fill)
        #expect(try messages(version, "Logs", of: type) == ["Alarm FIRE", "Log ONE"])
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: folder.store)
        #expect((metadata[NSStoreModelVersionHashesKey] as? [String: Any])?.keys.sorted() == ["Alarm", "Log"])
    }

    @Test("A step of a store of a configuration may be completed by code over its old and new objects")
    func code() throws {
        try open(1, "Logs", fill)
        let first = try ChainStep(inferringFrom: Self.version(1), to: Self.version(2)) { old, new in
            let messages = try old.all("Log").compactMap { $0.string("message") }
            for log in try new.all("Log") { log.setValue(messages.sorted().joined(separator: "+"), forKey: "shout") }
        }
        let second = try ChainStep(inferringFrom: Self.version(2), to: Self.version(3))
        try ProgressiveMigration(at: folder.store, along: [first, second], configuration: "Logs").run()
        #expect(try messages(3, "Logs") == ["Alarm fire+one", "Log fire+one"])
    }

    @Test("Of two programs that migrate a store over versions, the later one finds it done", arguments: [2, 3])
    func twice(version: Int) throws {
        try open(1, nil, fill)
        let migrations = try (0..<2).map { _ in
            try ProgressiveMigration(at: folder.store, to: Self.model(version), over: Self.known())
        }
        for migration in migrations { try migration.run() }
        #expect(try messages(version, nil) == ["Alarm FIRE", "Log ONE"])
    }
}
