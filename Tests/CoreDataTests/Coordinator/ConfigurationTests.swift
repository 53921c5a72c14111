import CoreData
import SQLiteConnection
import TestSupport
import Testing

@Suite("Several stores in one coordinator, by configuration")
struct ConfigurationTests {
    let folder: TestFolder
    let container: NSPersistentContainer
    let context: NSManagedObjectContext
    var people: URL { folder.file("people.sqlite") }
    var places: URL { folder.file("places.sqlite") }

    init() throws {
        let model = NSManagedObjectModel()
        let person = Library.entity("Person", [Library.attribute("name", .stringAttributeType)])
        let place = Library.entity("Place", [Library.attribute("name", .stringAttributeType)])
        place.uniquenessConstraints = [["name"]]
        let note = Library.entity("Note", [Library.attribute("name", .stringAttributeType)])
        model.entities = [person, place, note]
        model.setEntities([person, note], forConfigurationName: "People")
        model.setEntities([place, note], forConfigurationName: "Places")
        folder = try TestFolder()
        container = NSPersistentContainer(name: "Stores", managedObjectModel: model)
        container.persistentStoreDescriptions = ["People", "Places"].map { [folder] name in
            let description = NSPersistentStoreDescription(url: folder.file(name.lowercased() + ".sqlite"))
            description.configuration = name
            return description
        }
        nonisolated(unsafe) var failure: (any Error)?  // written before loadPersistentStores returns
        container.loadPersistentStores { failure = failure ?? $1 }
        if let failure { throw failure }
        context = container.newBackgroundContext()
    }

    private func names(_ table: String, in url: URL) throws -> [String] {
        try plainSQL("SELECT ZNAME FROM \(table) ORDER BY ZNAME", in: url)
    }

    @Test("Objects go to the store whose configuration has their entity; a file has no other tables")
    func placement() throws {
        try context.performAndWait {
            context.make("Person", ["name": "P"])
            context.make("Place", ["name": "Q"])
            try context.save()
            let found = try ["Person", "Place"].map { try context.all($0).count }
            #expect(found == [1, 1])
        }
        #expect(try names("ZPERSON", in: people) == ["P"])
        #expect(try names("ZPLACE", in: places) == ["Q"])
        let tables = try plainSQL("SELECT name FROM sqlite_master WHERE name IN ('ZPERSON', 'ZPLACE')", in: people)
        #expect(tables == ["ZPERSON"])
    }

    @Test(
        "Of an entity that several stores hold, the first takes new objects, unless they are assigned; a fetch asks all"
    )
    func assignment() throws {
        let second = try #require(container.persistentStoreCoordinator.persistentStore(for: places))
        try context.performAndWait {
            context.make("Note", ["name": "first"])
            context.assign(context.make("Note", ["name": "second"]), to: second)
            try context.save()
            let found = try context.all("Note", by: "name").map { $0.string("name") }
            #expect(found == ["first", "second"])
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.affectedStores = [second]
            let affected = try context.fetch(request).map { $0.string("name") }
            #expect(affected == ["second"])
        }
        #expect(try names("ZNOTE", in: people) == ["first"])
        #expect(try names("ZNOTE", in: places) == ["second"])
    }

    @Test("A save that one store refuses leaves the others as they were, and can be repeated")
    func refusal() throws {
        try context.performAndWait {
            context.make("Place", ["name": "Q"])
            try context.save()
            context.make("Person", ["name": "P"])
            let double = context.make("Place", ["name": "Q"])
            #expect(throws: NSError.self) { try context.save() }
            #expect(try names("ZPERSON", in: people).isEmpty)
            double.setValue("R", forKey: "name")
            try context.save()
        }
        #expect(try names("ZPERSON", in: people) == ["P"])
        #expect(try names("ZPLACE", in: places) == ["Q", "R"])
    }

    @Test("Conflicts in one store that the policy resolves write the others' rows once")
    func resolved() throws {
        try context.performAndWait {
            context.make("Place", ["name": "Q"])
            try context.save()
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            context.make("Person", ["name": "P"])
            context.make("Place", ["name": "Q"])
            try context.save()
        }
        #expect(try names("ZPERSON", in: people) == ["P"])
        #expect(try names("ZPLACE", in: places) == ["Q"])
    }

    @Test("A store that fails leaves the others as they were")
    func failure() throws {
        try context.performAndWait {
            context.make("Place", ["name": "Q"])
            try context.save()
            try Connection(path: places.path, mode: .readWrite).execute(
                "CREATE TRIGGER refuse BEFORE INSERT ON ZPLACE BEGIN SELECT RAISE(ABORT, 'no'); END")
            context.make("Person", ["name": "P"])
            context.make("Place", ["name": "R"])
            #expect(throws: NSError.self) { try context.save() }
            #expect(context.insertedObjects.count == 2)
        }
        #expect(try names("ZPERSON", in: people).isEmpty)
    }
}
