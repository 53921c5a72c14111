import CoreData
import Testing

@Suite("The entity of a fetch request that was made with a name")
struct FetchRequestEntityTests {
    private let request = NSFetchRequest<NSManagedObject>(entityName: "Book")

    @Test("Stays nil until a context uses the request, and is that of the context's model then (DungeonMaster)")
    func fetched() throws {
        let context = try Library.inMemory().viewContext
        #expect(request.entity == nil)
        _ = try context.fetch(request)
        #expect(request.entity === NSEntityDescription.entity(forEntityName: "Book", in: context))
    }

    @Test("Is known after counting, too")
    func counted() throws {
        let context = try Library.inMemory().viewContext
        _ = try context.count(for: request)
        #expect(request.entity?.name == "Book")
    }

    @Test("Does not keep the request from being used with another instance of the model")
    func otherModel() throws {
        let contexts = try [Library.inMemory().viewContext, Library.inMemory().viewContext]
        contexts[1].make("Book", ["title": "Emma"])
        #expect(try contexts.map { try $0.fetch(request).count } == [0, 1])
    }

    @Test("Is found by several queues at the same time")
    func concurrent() async throws {
        let container = try Library.inMemory()
        nonisolated(unsafe) let request = request
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { await container.performBackgroundTask { _ = try? $0.count(for: request) } }
            }
        }
        #expect(request.entity?.name == "Book")
    }
}
