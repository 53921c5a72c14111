import CoreData
import TestSupport
import Testing

@Suite("A migration manager whose destination is the source")
struct OwnPlaceMigrationTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static func model(_ attributes: [NSAttributeDescription]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = [Library.entity("Note", attributes)]
        return model
    }

    private static func old() -> NSManagedObjectModel { model([Library.attribute("text", .stringAttributeType)]) }

    private static func new() -> NSManagedObjectModel {
        let title = Library.attribute("title", .stringAttributeType)
        title.renamingIdentifier = "text"
        return model([title, Library.attribute("pages", .integer32AttributeType)])
    }

    private func with(
        _ model: NSManagedObjectModel, _ type: String = NSSQLiteStoreType,
        _ work: (NSManagedObjectContext) throws -> Void
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("notes"))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try work(context) }
        try coordinator.remove(store)
    }

    private func migrate(
        from old: NSManagedObjectModel = old(), _ type: String = NSSQLiteStoreType, objectByObject: Bool = false
    ) throws {
        let new = Self.new()
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.usesStoreSpecificMigrationManager = !objectByObject
        // The same file under another name.
        let other = folder.file("notes").deletingLastPathComponent().appendingPathComponent("./notes")
        try manager.migrateStore(
            from: folder.file("notes"), sourceType: type, options: nil, with: mapping, toDestinationURL: other,
            destinationType: type, destinationOptions: nil)
        #expect(manager.migrationProgress == 1)
    }

    @Test("The store is migrated, and keeps its identifier and its objects")
    func inPlace() throws {
        var identifiers: [URL] = []
        try with(Self.old()) { context in
            let note = context.make("Note", ["text": "Milk"])
            try context.save()
            identifiers.append(note.objectID.uriRepresentation())
        }
        try migrate()
        try with(Self.new()) { context in
            let notes = try context.all("Note")
            #expect(notes.map { $0.string("title") } == ["Milk"])
            identifiers += notes.map { $0.objectID.uriRepresentation() }
        }
        #expect(identifiers.count == 2 && identifiers.first == identifiers.last)
    }

    @Test("A store of another version is refused, and stays as it is")
    func otherVersion() throws {
        let other = Self.model([Library.attribute("line", .stringAttributeType)])
        try with(other) { context in
            context.make("Note", ["line": "Milk"])
            try context.save()
        }
        #expect(throws: NSError.self) { try migrate() }
        try with(other) { context in
            let notes = try context.all("Note")
            #expect(notes.map { $0.string("line") } == ["Milk"])
        }
    }

    @Test("Object by object it is refused, with what to do, and the store stays as it is")
    func objectByObject() throws {
        for type in [NSSQLiteStoreType, NSXMLStoreType] {
            try with(Self.old(), type) { context in
                context.make("Note", ["text": "Milk"])
                try context.save()
            }
            let error = #expect(throws: NSError.self) { try migrate(type, objectByObject: true) }
            #expect(error?.code == 134160)
            #expect(error?.localizedDescription.contains("another URL") == true)
            try with(Self.old(), type) { context in
                let notes = try context.all("Note")
                #expect(notes.map { $0.string("text") } == ["Milk"])
            }
            try FileManager.default.removeItem(at: folder.file("notes"))
        }
    }
}
