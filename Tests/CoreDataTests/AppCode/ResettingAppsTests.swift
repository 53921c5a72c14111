import CoreData
import SQLiteConnection
import TestSupport
import Testing

// As in AppSuiteRulesTests: what the tests of TMLPersistentContainer, CoreDataEvolution, Mindbox, Crush and About
// Objects, which pass on Apple's framework, say.
@Suite("Apps that destroy their stores, and look at files and notifications first")
struct ResettingAppsTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func coordinator() -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    }

    private func metadata(_ type: String, _ url: URL) throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: nil)
    }

    @Test("A store that was destroyed has metadata that say nothing about a model, and can be loaded and migrated to")
    func destroyed() throws {
        let coordinator = coordinator()
        let store = try coordinator.addPersistentStore(type: .sqlite, at: folder.store)
        try coordinator.remove(store)
        try coordinator.destroyPersistentStore(at: folder.store, type: .sqlite)
        let size = try Data(contentsOf: folder.store).count
        let found = try metadata(NSSQLiteStoreType, folder.store)
        #expect(found[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect(found[NSStoreUUIDKey] is String)
        #expect(found[NSStoreModelVersionHashesKey] == nil)
        #expect(found[NSStoreModelVersionIdentifiersKey] == nil)
        #expect(try Data(contentsOf: folder.store).count == size)
        #expect(try plainSQL("SELECT name FROM sqlite_master", in: folder.store).isEmpty)
        let other = try coordinator.addPersistentStore(type: .sqlite, at: folder.file("other.sqlite"))
        try coordinator.migratePersistentStore(other, to: folder.store, type: .sqlite)
        #expect(try metadata(NSSQLiteStoreType, folder.store)[NSStoreModelVersionHashesKey] != nil)
    }

    @Test(
        "A store is destroyed by the name of its type in any case (About Objects' Core Data labs); others are refused")
    func typeInAnyCase() throws {
        let coordinator = coordinator()
        let former = try coordinator.addPersistentStore(type: .sqlite, at: folder.store).identifier
        try coordinator.destroyPersistentStore(at: folder.store, ofType: "sqlite")
        #expect(coordinator.persistentStores.isEmpty)
        #expect(try coordinator.addPersistentStore(type: .sqlite, at: folder.store).identifier != former)
        let error = #expect(throws: NSError.self) {
            try coordinator.destroyPersistentStore(at: folder.store, ofType: "database")
        }
        #expect(error?.code == 134000)
    }

    @Test("A database of somebody else's has no metadata of a store")
    func foreign() throws {
        let coordinator = coordinator()
        let store = try coordinator.addPersistentStore(type: .sqlite, at: folder.store)
        try coordinator.remove(store)
        try coordinator.destroyPersistentStore(at: folder.store, type: .sqlite)
        try Connection(path: folder.store.path, mode: .readWrite).execute("CREATE TABLE notes (text)")
        let error = #expect(throws: NSError.self) { try metadata(NSSQLiteStoreType, folder.store) }
        #expect(error?.code == 134020)
    }

    @Test("A store in memory has metadata of its type, whatever file its URL leads to")
    func metadataInMemory() throws {
        let url = folder.file("garbage")
        try Data("garbage".utf8).write(to: url)
        let found = try metadata(NSInMemoryStoreType, url)
        #expect(found[NSStoreTypeKey] as? String == NSInMemoryStoreType)
        #expect(found[NSStoreUUIDKey] is String)
        #expect(found[NSStoreModelVersionHashesKey] == nil)
    }

    @Test("A store in memory may have a URL of any kind, which it keeps")
    func anyURL() throws {
        let url = try #require(URL(string: "https://example.org/"))
        let description = NSPersistentStoreDescription(url: url)
        description.type = NSInMemoryStoreType
        let container = try Library.container(Library.model(), description)
        #expect(container.persistentStoreCoordinator.persistentStores.map(\.url) == [url])
        container.viewContext.make("Tag", ["name": "x"])
        try container.viewContext.save()
        #expect(try container.viewContext.all("Tag").count == 1)
    }

    @Test(
        "A store in memory that is destroyed is removed, and one that is loaded then is empty (Crush)",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func destroyedInMemory(type: String) throws {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        description.type = type
        let container = try Library.container(Library.model(), description)
        container.viewContext.make("Tag", ["name": "x"])
        try container.viewContext.save()
        container.viewContext.reset()
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores {
            try coordinator.destroyPersistentStore(at: coordinator.url(for: store), ofType: store.type)
        }
        #expect(coordinator.persistentStores.isEmpty)
        var errors: [(any Error)?] = []
        container.loadPersistentStores { errors.append($1) }
        #expect(errors.map { $0 == nil } == [true])
        #expect(try container.viewContext.all("Tag").isEmpty)
    }

    @Test(
        "A file that is not a database is destroyed as a store, and a store can be loaded then (Mindbox)",
        arguments: ["not a database", "<?xml version=\"1.0\"?>", String(repeating: "A", count: 5000)])
    func noDatabase(content: String) throws {
        try Data(content.utf8).write(to: folder.store)
        let container = NSPersistentContainer(name: "App", managedObjectModel: Library.model())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.store)]
        var errors: [(any Error)?] = []
        container.loadPersistentStores { errors.append($1) }
        try container.persistentStoreCoordinator.destroyPersistentStore(at: folder.store, type: .sqlite)
        container.loadPersistentStores { errors.append($1) }
        #expect(errors.map { $0 == nil } == [false, true])
        #expect(try container.viewContext.all("Tag").isEmpty)
    }

    @Test("A file that is not a database stays if the option to destroy by force is false")
    func keptFile() throws {
        let content = Data(repeating: 65, count: 5000)
        try content.write(to: folder.store)
        #expect(throws: NSError.self) {
            try coordinator().destroyPersistentStore(
                at: folder.store, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: false])
        }
        #expect(try Data(contentsOf: folder.store) == content)
    }

    @Test("A notification that a merge caused says so; one of the context's own changes does not")
    func merges() throws {
        let container = try Library.stored(at: folder.store)
        let context = container.viewContext
        let names = ["A", "B"].map { context.make("Tag", ["name": $0]) }
        try context.save()
        nonisolated(unsafe) var notes: [[AnyHashable: Any]] = []  // written on this thread
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { notes.append($0.userInfo ?? [:]) }
        defer { NotificationCenter.default.removeObserver(observer) }
        let identifiers = names.map(\.objectID)
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.delete(try other.existingObject(with: identifiers[0]))
            try other.existingObject(with: identifiers[1]).setValue("C", forKey: "name")
            try other.save()
        }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [
                NSDeletedObjectIDsKey: [identifiers[0]], NSUpdatedObjectIDsKey: [identifiers[1]],
            ], into: [context])
        #expect(notes.count == 1)
        #expect(notes.first?["NSObjectsChangedByMergeChangesKey"] as? Set<NSManagedObject> == [])
        #expect((notes.first?[NSDeletedObjectsKey] as? Set<NSManagedObject>)?.count == 1)
        names[1].setValue("D", forKey: "name")
        context.processPendingChanges()
        #expect(notes.count == 2)
        #expect(notes.last?["NSObjectsChangedByMergeChangesKey"] == nil)
    }
}
