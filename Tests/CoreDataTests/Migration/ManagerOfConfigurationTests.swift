import CoreData
import TestSupport
import Testing

@Suite("A migration manager of a program's own, on a store of a configuration")
struct ManagerOfConfigurationTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Notes for the cloud, with urgent ones, and drafts that stay here; the second version has a further attribute.
    private static func model(_ version: Int, hasConfigurations: Bool = true) -> NSManagedObjectModel {
        let further = version == 2 ? [Library.attribute("place", .stringAttributeType)] : []
        let note = Library.entity("Note", [Library.attribute("text", .stringAttributeType)] + further)
        let urgent = Library.entity("Urgent", [Library.attribute("day", .dateAttributeType)])
        note.subentities = [urgent]
        let draft = Library.entity("Draft", [Library.attribute("text", .stringAttributeType)])
        let model = NSManagedObjectModel()
        model.entities = [note, urgent, draft]
        if hasConfigurations {
            model.setEntities([note, urgent], forConfigurationName: "Cloud")
            model.setEntities([draft], forConfigurationName: "Local")
        }
        return model
    }

    private func withStore(
        _ model: NSManagedObjectModel, _ configuration: String?, _ type: String, _ url: URL,
        _ work: (NSManagedObjectContext) throws -> Void
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: configuration, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try work(context) }
        try coordinator.remove(store)
    }

    private func migrate(
        _ type: String, isInferred: Bool, configuration: String?, to new: NSManagedObjectModel = model(2)
    ) throws {
        let old = Self.model(1)
        try withStore(old, configuration, type, folder.file("old")) { context in
            if configuration != "Local" { context.make("Urgent", ["text": "Help"]) }
            if configuration != "Cloud" { context.make("Draft", ["text": "Later"]) }
            try context.save()
        }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        if !isInferred {
            for entity in mapping.entityMappings {
                entity.attributeMappings?.first { $0.name == "place" }?.valueExpression = NSExpression(
                    forConstantValue: "here")
            }
        }
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
            from: folder.file("old"), sourceType: type, options: nil, with: mapping,
            toDestinationURL: folder.file("new"), destinationType: type, destinationOptions: nil)
    }

    @Test(
        "The migrated store has the same configuration, with its objects, by an inferred mapping and another one",
        arguments: [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType], [true, false])
    func part(type: String, isInferred: Bool) throws {
        try migrate(type, isInferred: isInferred, configuration: "Cloud")
        let new = Self.model(2)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: type, at: folder.file("new"), options: nil)
        #expect(new.isConfiguration(withName: "Cloud", compatibleWithStoreMetadata: metadata))
        #expect((metadata[NSStoreModelVersionHashesKey] as? [String: Data])?.keys.sorted() == ["Note", "Urgent"])
        try withStore(new, "Cloud", type, folder.file("new")) { context in
            let notes = try context.all("Note")
            #expect(notes.map { $0.string("text") } == ["Help"])
            #expect(notes.map { $0.string("place") } == [isInferred ? nil : "here"])
            #expect(notes.first?.entity.name == "Urgent")
        }
    }

    @Test("A store of all entities stays one", arguments: [true, false])
    func whole(isInferred: Bool) throws {
        try migrate(NSSQLiteStoreType, isInferred: isInferred, configuration: nil)
        try withStore(Self.model(2), nil, NSSQLiteStoreType, folder.file("new")) { context in
            let found = try ["Urgent", "Draft"].map { try context.all($0).count }
            #expect(found == [1, 1])
        }
    }

    @Test(
        "For a model without that configuration, the migrated store has all entities", arguments: [true, false])
    func withoutConfigurations(isInferred: Bool) throws {
        let new = Self.model(2, hasConfigurations: false)
        try migrate(NSSQLiteStoreType, isInferred: isInferred, configuration: "Local", to: new)
        try withStore(new, nil, NSSQLiteStoreType, folder.file("new")) { context in
            let (drafts, notes) = try (context.all("Draft"), context.all("Note"))
            #expect(drafts.map { $0.string("text") } == ["Later"])
            #expect(notes.isEmpty)
        }
    }
}
