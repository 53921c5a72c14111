import CoreData
import Testing

@MainActor @Suite("Stores to which objects are assigned")
struct AssignedStoreTests {
    private let context: NSManagedObjectContext
    private let stores: [NSPersistentStore]

    init() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        stores = try (1...2).map { _ in
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
        context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
    }

    @Test("An object may be assigned before it is inserted")
    func before() throws {
        let entity = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Book"])
        let book = NSManagedObject(entity: entity, insertInto: nil)
        context.assign(book, to: stores[1])
        context.insert(book)
        try context.save()
        #expect(book.objectID.persistentStore === stores[1])
    }
}
