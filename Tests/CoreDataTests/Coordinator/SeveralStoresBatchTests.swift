import CoreData
import TestSupport
import Testing

/// Two stores, each with an author and a book of the same keys.
@Suite("Batch requests with objects of another store")
struct SeveralStoresBatchTests {
    let folder: TestFolder
    let stores: [NSPersistentStore]
    let context: NSManagedObjectContext

    init() throws {
        folder = try TestFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        stores = try ["a.sqlite", "b.sqlite"].map { [folder] name in
            try coordinator.addPersistentStore(type: .sqlite, at: folder.file(name))
        }
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { [context, stores] in
            for (store, name) in zip(stores, ["Ada", "Emma"]) {
                for object in [context.make("Author", ["name": name]), context.make("Book", ["title": name])] {
                    context.assign(object, to: store)
                }
            }
            try context.save()
        }
    }

    private func author(_ name: String) throws -> NSManagedObject {
        try #require(context.all("Author", NSPredicate(format: "name == %@", name)).first)
    }

    private func titlesOfBooksWithAuthors() throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "author != nil")
        return try context.fetch(request).compactMap { $0.string("title") }
    }

    @Test("An update that would lead to one is refused, and changes no store")
    func update() throws {
        try context.performAndWait {
            let request = NSBatchUpdateRequest(entityName: "Book")
            request.propertiesToUpdate = ["author": try author("Emma")]
            let error = #expect(throws: NSError.self) { try context.execute(request) }
            #expect(error?.code == NSManagedObjectExternalRelationshipError)
            #expect(try titlesOfBooksWithAuthors() == [])

            request.affectedStores = [stores[1]]
            try context.execute(request)
            #expect(try titlesOfBooksWithAuthors() == ["Emma"])
        }
    }

    @Test("A row that would lead to one is refused, with all rows of its request")
    func insertion() throws {
        try context.performAndWait {
            let rows: [[String: Any]] = [["title": "new"], ["title": "other", "author": try author("Emma")]]
            let request = NSBatchInsertRequest(entityName: "Book", objects: rows)
            request.affectedStores = [stores[0]]
            let error = #expect(throws: NSError.self) { try context.execute(request) }
            #expect(error?.code == NSManagedObjectExternalRelationshipError)
            #expect(try context.all("Book").count == 2)

            request.affectedStores = [stores[1]]
            try context.execute(request)
            #expect(try titlesOfBooksWithAuthors() == ["other"])
        }
    }

    @Test("If the second store refuses an update, objects of the first show what it has now")
    func secondRefuses() throws {
        try execute(
            "CREATE TRIGGER NONE BEFORE UPDATE ON ZAUTHOR BEGIN SELECT RAISE(ABORT, 'no'); END",
            in: folder.file("b.sqlite"))
        context.reset()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.affectedStores = [stores[0]]
            let ada = try #require(context.fetch(request).first)
            let update = NSBatchUpdateRequest(entityName: "Author")
            update.propertiesToUpdate = ["name": "Both"]
            #expect(throws: NSError.self) { try context.execute(update) }
            #expect(ada.string("name") == "Both")
        }
        #expect(try plainSQL("SELECT ZNAME FROM ZAUTHOR", in: folder.file("a.sqlite")) == ["Both"])
        #expect(try plainSQL("SELECT ZNAME FROM ZAUTHOR", in: folder.file("b.sqlite")) == ["Emma"])
    }
}
