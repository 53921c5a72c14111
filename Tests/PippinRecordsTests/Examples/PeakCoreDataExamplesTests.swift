import Testing

@testable import PippinRecords
@testable import Pippin

@Suite("The examples of PeakCoreData")
struct PeakCoreDataExamplesTests {
    private final class Screen: PersistenceManagerSettable {
        var persistenceManager: PersistenceManager?
    }

    private func memory() throws -> PersistenceManager {
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        description.shouldAddStoreAsynchronously = false
        let manager = PersistenceManager(
            model: Library.model(), name: "PeakCoreDataExample", store: .description(description))
        try manager.loadAndWait()
        return manager
    }

    @Test("a description says where and how the store is")
    func description() throws {
        #expect(try memory().container.persistentStoreCoordinator.persistentStores.first?.type == NSInMemoryStoreType)
    }

    @Test("the container is handed from screen to screen")
    func settable() throws {
        let manager = try memory()
        let screen: any AnyObject = Screen()
        (screen as? any PersistenceManagerSettable)?.persistenceManager = manager
        #expect((screen as? Screen)?.persistenceManager === manager)
    }

    @Test("managed classes insert, fetch, count and delete")
    func records() throws {
        let context = try memory().backgroundContext()
        try context.performAndWait {
            for name in ["Ada", "Blaise", "Carl"] {
                try PersonRecord.insert(in: context).setValue(name, forKey: "name")
            }
            let byName = [NSSortDescriptor(key: "name", ascending: true)]
            let startsWithA = NSPredicate(format: "name BEGINSWITH 'A'")
            #expect(try PersonRecord.all(sortDescriptors: byName, in: context).count == 3)
            #expect(try PersonRecord.count(where: startsWithA, in: context) == 1)
            #expect(
                try PersonRecord.first(sortDescriptors: byName, in: context)?.value(forKey: "name") as? String == "Ada")
            #expect(try PersonRecord.deleteAll(where: startsWithA, in: context) == 1)
            #expect(try PersonRecord.deleteAll(in: context) == 2)
        }
    }

    @Test("work on a child context is saved through its parent, and a count follows it")
    func children() async throws {
        let manager = try memory()
        let background = manager.backgroundContext()
        let child = manager.childContext(of: background)
        try await child.perform { try PersonRecord.insert(in: child).setValue("a", forKey: "id") }
        try await manager.saveToStore(child)
        #expect(try await manager.fetchModels(entity: PersonRecord.self, uids: ["a"]).count == 1)
    }

    /// A task on a background thread, as a subclass.
    private final class AgingOperation: DataOperation<Int>, @unchecked Sendable {
        override func performWork(in context: NSManagedObjectContext) throws -> Int {
            let people = try PersonRecord.all(in: context)
            for person in people { person.setValue((person.value(forKey: "age") as? Int ?? 0) + 1, forKey: "age") }
            return people.count
        }
    }

    @Test("an operation works on a child context, and what it saved comes to the other contexts")
    func operation() async throws {
        let manager = try memory()
        try await manager.save(entity: PersonRecord.self, model: .ada)
        let background = manager.backgroundContext()
        let ada = try await background.perform {
            UncheckedTransfer(value: try PersonRecord.first(in: background))
        }
        let operation = AgingOperation(manager: manager)
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            OperationQueue().addOperation(operation)
        }
        #expect(try operation.result?.get() == 1)
        let age = await background.perform { ada.value?.value(forKey: "age") as? Int }
        #expect(age == 37)
    }

    @Test("a fetched results controller is a collection with sections for a table")
    func fetchedCollection() throws {
        let manager = try memory()
        try manager.save(entity: PersonRecord.self, models: [.ada, .blaise], shouldOverwrite: false)
        let context = manager.backgroundContext()
        try context.performAndWait {
            let people = try FetchedCollection<PersonRecord>(
                in: context, sortDescriptors: [NSSortDescriptor(key: "name", ascending: true)])
            #expect(people.count(inSection: 0) == 2)
            #expect(people[IndexPath(indexes: [0, 1])].toModel() == .blaise)
        }
    }
}
