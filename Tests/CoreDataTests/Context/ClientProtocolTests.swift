import CoreData
import Testing

// Protocols that code uses to stand in for a context or a container; that they are satisfied is what the compiler
// checks.
private protocol Performing {
    func perform(_ block: @escaping () -> Void)
    func performAndWait(_ block: () -> Void)
    func performAndWait<T>(_ block: () throws -> T) rethrows -> T
}
extension NSManagedObjectContext: Performing {}

private protocol Container {
    var viewContext: NSManagedObjectContext { get }
    func newBackgroundContext() -> NSManagedObjectContext
    func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void)
    func loadPersistentStores(completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void)
}
extension NSPersistentContainer: Container {}

/// A container as test suites make them: with another context in place of the main queue's. INCoreData's tests do it.
private final class MockContainer: NSPersistentContainer, @unchecked Sendable {
    private let context = NSManagedObjectContext(.privateQueue)
    override var viewContext: NSManagedObjectContext { context }
}

@Suite("Contexts and containers behind a client's protocols")
struct ClientProtocolTests {
    @Test("A context is used through a protocol of the same methods")
    func performing() throws {
        let context: any Performing = try Library.inMemory().newBackgroundContext()
        var runs = 0
        context.performAndWait { runs += 1 }
        let result = context.performAndWait { runs + 1 }
        #expect((runs, result) == (1, 2))
    }

    @Test("A subclass of the container can have another view context")
    func overridden() {
        let container: any Container = MockContainer(name: "Mock", managedObjectModel: Library.model())
        #expect(container.viewContext.concurrencyType == .privateQueueConcurrencyType)
    }
}
