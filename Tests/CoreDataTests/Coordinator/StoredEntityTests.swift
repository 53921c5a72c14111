import CoreData
import SQLiteConnection
import TestSupport
import Testing

@Suite("Entities that a store's file has, and the model's configuration or names do not")
struct StoredEntityTests {
    let folder: TestFolder
    var file: URL { folder.file("books.sqlite") }

    init() throws { folder = try TestFolder() }

    private func model(novel: String = "GraphicNovel", renamedFrom former: String? = nil) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        let book = Library.entity("Book", [Library.attribute("name", .stringAttributeType)])
        let subentity = Library.entity(novel, [Library.attribute("color", .stringAttributeType)])
        subentity.renamingIdentifier = former
        book.subentities = [subentity]
        let page = Library.entity("Page", [Library.attribute("name", .stringAttributeType)])
        model.entities = [book, subentity, page]
        model.setEntities([book, page], forConfigurationName: "Books")
        return model
    }

    private func withContext(
        _ model: NSManagedObjectModel, configuration: String? = nil, options: [AnyHashable: Any]? = nil,
        _ body: (NSManagedObjectContext) throws -> Void
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: configuration, at: file, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try body(context) }
        try coordinator.remove(store)
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        context.make("Book", ["name": "A"])
        context.make("GraphicNovel", ["name": "B", "color": "red"])
        try context.save()
    }

    @Test("A configuration without a subentity that the store has opens the store, and finds its objects")
    func subentity() throws {
        try withContext(model(), fill)
        try withContext(model(), configuration: "Books") { context in
            let found = try context.all("Book", by: "name")
            #expect(found.map { $0.entity.name } == ["Book", "GraphicNovel"])
            #expect(found.last?.string("color") == "red")
        }
    }

    @Test(
        "A configuration opens a store of all entities: its own objects are found and changed, the others stay",
        arguments: [nil, [NSMigratePersistentStoresAutomaticallyOption: true]] as [[String: Bool]?])
    func storeOfAll(options: [String: Bool]?) throws {
        try withContext(model()) { context in
            try fill(context)
            context.make("Page", ["name": "1"])
            try context.save()
        }
        let pages = model()
        pages.setEntities([pages.entity("Page")], forConfigurationName: "Pages")
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: file)
        #expect(pages.isConfiguration(withName: "Pages", compatibleWithStoreMetadata: metadata))
        try withContext(pages, configuration: "Pages", options: options) { context in
            #expect(try context.all("Page").count == 1)
            #expect(try context.all("Book").isEmpty)
            context.make("Page", ["name": "2"])
            try context.save()
        }
        try withContext(model()) { context in
            let found = try ["Page", "Book"].map { try context.all($0, by: "name").map { $0.string("name") } }
            #expect(found == [["1", "2"], ["A", "B"]])
        }
    }

    @Test("A configuration does not open a store of all entities in which another entity has another version")
    func otherVersion() throws {
        try withContext(model(), fill)
        let changed = model()
        changed.entity("Book").properties.append(Library.attribute("pages", .integer64AttributeType))
        changed.setEntities([changed.entity("Page")], forConfigurationName: "Pages")
        let error = #expect(throws: NSError.self) { try withContext(changed, configuration: "Pages") { _ in } }
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test("A configuration without a subentity makes a store, and opens it again")
    func madeWithout() throws {
        for _ in 0..<2 {
            try withContext(model(), configuration: "Books") { context in
                context.make("Book", ["name": "A"])
                try context.save()
            }
        }
        #expect(try plainSQL("SELECT ZNAME FROM ZBOOK", in: file) == ["A", "A"])
    }

    @Test("An entity that Apple's migration left its former name in Z_PRIMARYKEY is found by its renaming identifier")
    func renamed() throws {
        try withContext(model(), fill)
        let options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        let renamed = model(novel: "Comic", renamedFrom: "GraphicNovel")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: renamed)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
        try coordinator.remove(store)
        let connection = try Connection(path: file.path, mode: .readWrite)
        try connection.execute("UPDATE Z_PRIMARYKEY SET Z_NAME = 'GraphicNovel' WHERE Z_NAME = 'Comic'")
        try withContext(renamed) { context in
            let found = try context.all("Book", by: "name").map { $0.entity.name }
            #expect(found == ["Book", "Comic"])
            context.make("Comic", ["name": "C"])
            try context.save()
        }
        #expect(try plainSQL("SELECT COUNT(DISTINCT Z_ENT) FROM ZBOOK", in: file) == ["2"])
    }
}
