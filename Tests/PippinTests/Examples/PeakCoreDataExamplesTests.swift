import Pippin
import Testing

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
        try manager.load()
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
}
