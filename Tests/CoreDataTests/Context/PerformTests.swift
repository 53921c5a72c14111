import CoreData
import Synchronization
import Testing

@Suite("Running code on a context's queue")
struct PerformTests {
    struct Failure: Error {}

    private final class Order: Sendable {
        private let noted = Mutex<[String]>([])
        var names: [String] { noted.withLock { $0 } }
        func note(_ name: String) { noted.withLock { $0.append(name) } }
    }

    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
    }

    @Test("perform returns what its block returns, and throws what it throws")
    func results() async throws {
        let count = try await context.perform { try context.all("Author").count }
        #expect(count == 0)
        await #expect(throws: Failure.self) { try await context.perform { throw Failure() } }
        #expect(throws: Failure.self) { try context.performAndWait { throw Failure() } }
    }

    @Test("An enqueued block runs when the queue comes to it")
    @MainActor func schedule() async {
        let view = container.viewContext
        let order = Order()
        DispatchQueue.main.async { order.note("before") }
        await view.perform(schedule: .enqueued) { @Sendable in order.note("enqueued") }
        #expect(order.names == ["before", "enqueued"])
    }

    @Test("Blocks run one after the other, in the order in which they came")
    func order() {
        let order = Order()
        for number in 0..<50 { context.perform { order.note("\(number)") } }
        context.performAndWait {}
        #expect(order.names == (0..<50).map { "\($0)" })
    }

    @Test("performAndWait may be nested, and a block may wait for another context", .timeLimit(.minutes(15)))
    func nested() {
        let other = container.newBackgroundContext()
        let depth = context.performAndWait {
            context.performAndWait { other.performAndWait { context.performAndWait { other.performAndWait { 5 } } } }
        }
        #expect(depth == 5)
    }

    @Test("The main queue and private contexts may wait for one another", .timeLimit(.minutes(15)))
    @MainActor func mainAndPrivate() async throws {
        let view = container.viewContext
        let context = context
        // The main queue waits for a private context, whose block comes back to the main queue's.
        let name = context.performAndWait {
            view.performAndWait { view.make("Author", ["name": "A"]).string("name") }
        }
        #expect(name == "A")
        // A private context waits for the main queue, which is free.
        let count = try await context.perform { try view.performAndWait { try view.all("Author").count } }
        #expect(count == 1)
    }

    @Test("A request runs itself in the context whose block is running")
    func execute() async throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        #expect(throws: NSError.self) { try request.execute() }
        context.performAndWait { _ = context.make("Author", ["name": "A"]) }
        let count = try context.performAndWait { try request.execute().count }
        #expect(count == 1)
    }
}
