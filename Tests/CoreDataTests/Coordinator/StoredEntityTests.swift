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
        _ model: NSManagedObjectModel, configuration: String? = nil, _ body: (NSManagedObjectContext) throws -> Void
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: configuration, at: file, options: nil)
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
