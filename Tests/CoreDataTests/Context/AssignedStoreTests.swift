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

    @Test("An object that is released takes its store with it: another one at its address goes where it belongs")
    func released() throws {
        let entity = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Book"])
        var addresses: Set<ObjectIdentifier> = []
        for _ in 0..<200 {
            let object = NSManagedObject(entity: entity, insertInto: nil)
            context.assign(object, to: stores[1])
            addresses.insert(ObjectIdentifier(object))
        }
        var books: [NSManagedObject] = []
        while books.count < 10_000, !books.contains(where: { addresses.contains(ObjectIdentifier($0)) }) {
            books.append(context.make("Book"))
        }
        try #require(books.contains { addresses.contains(ObjectIdentifier($0)) })
        try context.save()
        #expect(books.allSatisfy { $0.objectID.persistentStore === stores[0] })
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
