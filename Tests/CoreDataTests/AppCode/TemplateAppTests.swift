import CoreData
import TestSupport
import Testing

/// What Xcode's template for an app with Core Data sets up.
private struct PersistenceController {
    let container: NSPersistentContainer

    init(inMemory: Bool = false, options: [String: NSObject] = [:]) throws {
        container = NSPersistentContainer(name: "Template", managedObjectModel: Library.model())
        if inMemory { container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null") }
        for (key, value) in options { container.persistentStoreDescriptions.first?.setOption(value, forKey: key) }
        nonisolated(unsafe) var failure: (any Error)?  // written before loadPersistentStores returns
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
    }
}

// The rule: previews and tests keep an SQLite store at /dev/null, which is in memory and can do all that SQLite stores
// can. Xcode's templates and Apple's samples rely on it.
@Suite("A store at /dev/null")
struct TemplateAppTests {
    @Test("It is an SQLite store that is gone with its coordinator and shares nothing with another")
    func inMemory() throws {
        let first = try PersistenceController(inMemory: true)
        let second = try PersistenceController(inMemory: true)
        let store = try #require(first.container.persistentStoreCoordinator.persistentStores.first)
        #expect(store.type == NSSQLiteStoreType)
        #expect(store.url?.path == "/dev/null")
        let context = first.container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<10 { context.make("Book", ["title": "Book \(number)"]) }
            try context.save()
        }
        #expect(try count(in: first) == 10)
        #expect(try count(in: second) == 0)
    }

    @Test("Nothing is written to the device or beside it, not even when the store is destroyed")
    func device() throws {
        let controller = try PersistenceController(inMemory: true)
        let context = controller.container.newBackgroundContext()
        try context.performAndWait {
            context.make("Book")
            try context.save()
        }
        let url = URL(fileURLWithPath: "/dev/null")
        try controller.container.persistentStoreCoordinator.destroyPersistentStore(at: url, type: .sqlite)
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        #expect(attributes[.type] as? FileAttributeType == .typeCharacterSpecial)
        #expect(!FileManager.default.fileExists(atPath: "/dev/null-wal"))
        #expect(!FileManager.default.fileExists(atPath: "/dev/.null_SUPPORT"))
    }

    @Test("A store at a name below the device is in memory, too (CareKit)")
    func named() throws {
        let url = URL(fileURLWithPath: "/dev/null").appendingPathComponent("Tasks.sqlite")
        for count in [3, 2] {
            let container = NSPersistentContainer(name: "Tasks", managedObjectModel: Library.model())
            container.persistentStoreDescriptions.first?.url = url
            nonisolated(unsafe) var failure: (any Error)?  // written before loadPersistentStores returns
            container.loadPersistentStores { failure = $1 }
            #expect(failure == nil)
            for number in 0..<count { container.viewContext.make("Book", ["title": "Book \(number)"]) }
            try container.viewContext.save()
            #expect(try container.viewContext.all("Book").count == count)
            try container.persistentStoreCoordinator.destroyPersistentStore(at: url, type: .sqlite)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: "/dev/null")
        #expect(attributes[.type] as? FileAttributeType == .typeCharacterSpecial)
    }

    @Test("Batch requests and persistent history work on it")
    func requests() throws {
        let controller = try PersistenceController(
            inMemory: true, options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        let context = controller.container.newBackgroundContext()
        try context.performAndWait {
            let insert = NSBatchInsertRequest(entityName: "Book", objects: [["title": "A"], ["title": "B"]])
            insert.resultType = .count
            #expect((try context.execute(insert) as? NSBatchInsertResult)?.result as? Int == 2)
            let history = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast))
            let transactions = (history as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
            #expect(transactions?.first?.changes?.count == 2)
        }
    }

    private func count(in controller: PersistenceController) throws -> Int {
        let context = controller.container.newBackgroundContext()
        return try context.performAndWait {
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book"))
        }
    }
}

private final class NestedContainer: NSPersistentContainer, @unchecked Sendable {
    override class func defaultDirectoryURL() -> URL {
        super.defaultDirectoryURL().appendingPathComponent("pippin-nested")
    }
}

@Suite("Loading the stores of a container")
struct ContainerLoadingTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func load(_ container: NSPersistentContainer) -> NSError? {
        nonisolated(unsafe) var failure: (any Error)?  // written before loadPersistentStores returns
        container.loadPersistentStores { failure = $1 }
        return failure as NSError?
    }

    // INCoreData relies on it.
    @Test("Folders that are missing are made, in a default directory that a subclass says, or in any other")
    func folders() throws {
        let nested = NestedContainer(name: "Template", managedObjectModel: Library.model())
        defer { try? FileManager.default.removeItem(at: NestedContainer.defaultDirectoryURL()) }
        #expect(load(nested) == nil)
        let url = folder.file("a/b/c.sqlite")
        nested.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        #expect(load(nested) == nil)
        #expect(FileManager.default.fileExists(atPath: url.path))
    }

    // YPersistence relies on it.
    @Test("A store that was added already cannot be added once more")
    func twice() throws {
        let container = try Library.stored(at: folder.file("Twice.sqlite"))
        #expect(load(container)?.code == 134081)
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test("A program that adds a store for each of a model's configurations adds one where the model names none")
    func storeForEachConfiguration() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        for name in coordinator.managedObjectModel.configurations {
            _ = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: name, at: folder.file("\(name).sqlite"), options: nil)
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            context.make("Book")
            try context.save()
        }
        #expect(coordinator.persistentStores.count == 1)
    }
}
