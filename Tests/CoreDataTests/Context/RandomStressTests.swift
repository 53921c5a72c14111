import CoreData
import Synchronization
import TestSupport
import Testing
import SQLiteEngine

/// Writers that each change authors of their own, through contexts that they share, while others read, merge, refresh
/// and reset: what the writers know must be what is stored in the end.
@Suite("Many contexts at once, at random")
struct RandomStressTests {
    @Test(
        "Random changes through shared, fresh and child contexts end as their writers made them",
        .timeLimit(.minutes(15)))
    func random() async throws {
        let world = try World()
        let written = try await withThrowingTaskGroup(of: [String: Int].self) { group in
            for number in 0..<4 { group.addTask { try await Writer(number, world).run(steps: 60) } }
            for number in 0..<3 { group.addTask { try await Reader(number, world).run() } }
            group.addTask { try await world.follow() }
            var all: [String: Int] = [:]
            // The writers first; then the others hear that it is over.
            for _ in 0..<4 { for (name, age) in try await group.next() ?? [:] { all[name] = age } }
            world.isOver.store(true, ordering: .releasing)
            try await group.waitForAll()
            return all
        }
        let stored = try plainSQL("SELECT ZNAME, ZAGE FROM ZAUTHOR ORDER BY ZNAME", in: world.url)
        #expect(stored == written.map { "\($0)|\($1)" }.sorted())
        #expect(try await world.listed() == written.keys.sorted())
    }
}

/// What the tasks share.
private final class World: @unchecked Sendable {
    // @unchecked Sendable: set up once; contexts and controller are used on their queues.
    let folder: TestFolder
    let container: NSPersistentContainer
    let shared: [NSManagedObjectContext]
    let watching: NSManagedObjectContext
    private let controller: NSFetchedResultsController<NSManagedObject>
    private let delegate = Listener()
    let isOver = Atomic<Bool>(false)
    var url: URL { folder.file("library.sqlite") }

    init() throws {
        folder = try TestFolder()
        let description = NSPersistentStoreDescription(url: folder.file("library.sqlite"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        let container = try Library.container(Library.model(), description)
        self.container = container
        func context() -> NSManagedObjectContext {
            let context = container.newBackgroundContext()
            context.automaticallyMergesChangesFromParent = true
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            return context
        }
        shared = [context(), context(), context()]
        watching = context()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: watching, sectionNameKeyPath: nil, cacheName: nil)
        controller.delegate = delegate
        try watching.performAndWait { try controller.performFetch() }
    }

    /// Reads the history, and merges it into the contexts.
    func follow() async throws -> [String: Int] {
        let context = container.newBackgroundContext()
        var token: NSPersistentHistoryToken?
        repeat {
            let request = Unchecked(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
            let transactions = try await context.perform {
                let result = try context.execute(request.value) as? NSPersistentHistoryResult
                return Unchecked(result?.result as? [NSPersistentHistoryTransaction] ?? [])
            }
            for transaction in transactions.value {
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: transaction.objectIDNotification().userInfo ?? [:], into: shared + [watching]
                )
                token = transaction.token
            }
            await Task.yield()
        } while !isOver.load(ordering: .acquiring)
        return [:]
    }

    /// The names that the controller lists, once all merges are through.
    func listed() async throws -> [String] {
        await watching.perform(schedule: .enqueued) {
            Unchecked(self.controller.fetchedObjects?.compactMap { $0.string("name") } ?? [])
        }.value
    }

    /// With a delegate, a controller follows changes.
    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
    }
}

private struct Writer {
    private let number: Int
    private let world: World
    private var random: SeededGenerator
    private var authors: [String: Int] = [:]

    init(_ number: Int, _ world: World) {
        self.number = number
        self.world = world
        random = SeededGenerator(seed: UInt64(number))
    }

    func run(steps: Int) async throws -> [String: Int] {
        var writer = self
        for step in 0..<steps { try await writer.take(step) }
        return writer.authors
    }

    private mutating func take(_ step: Int) async throws {
        let context = pickContext()
        let known = authors.keys.sorted().randomElement(using: &random)
        switch (Int.random(in: 0..<4, using: &random), known) {
        case (0, let name?):
            try await change(name, in: context) { $0.managedObjectContext?.delete($0) }
            authors[name] = nil
        case (1, let name?), (2, let name?):
            try await change(name, in: context) { $0.setValue(step, forKey: "age") }
            authors[name] = step
        default:
            let name = "\(number)-\(step)"
            try await save(context) { _ = $0.make("Author", ["name": name, "age": step]) }
            authors[name] = step
        }
    }

    private mutating func pickContext() -> NSManagedObjectContext {
        let context = world.shared.randomElement(using: &random) ?? world.watching
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return context
        case 1: return Family.child(of: context)
        default:
            let fresh = world.container.newBackgroundContext()
            fresh.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            return fresh
        }
    }

    private func change(
        _ name: String, in context: NSManagedObjectContext, _ body: @escaping @Sendable (NSManagedObject) -> Void
    ) async throws {
        try await save(context) { context in
            body(try #require(try context.all("Author", NSPredicate(format: "name = %@", name)).first, "\(name)"))
        }
    }

    /// Makes changes and saves them down to the store.
    private func save(
        _ context: NSManagedObjectContext, _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Void
    ) async throws {
        try await context.perform {
            try body(context)
            try context.save()
            if let parent = context.parent { try parent.performAndWait { try parent.save() } }
        }
    }
}

private struct Reader {
    private let number: Int
    private let world: World

    init(_ number: Int, _ world: World) { (self.number, self.world) = (number, world) }

    func run() async throws -> [String: Int] {
        var random = SeededGenerator(seed: UInt64(100 + number))
        let own = world.container.newBackgroundContext()
        own.automaticallyMergesChangesFromParent = number % 2 == 0
        let child = Family.child(of: own)
        while !world.isOver.load(ordering: .acquiring) {
            let kind = Int.random(in: 0..<6, using: &random)
            let context = Bool.random(using: &random) ? own : child
            try await context.perform {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
                request.fetchBatchSize = kind == 0 ? 5 : 0
                let authors = try context.fetch(request)
                for author in authors.prefix(30) { _ = author.string("name") }
                switch kind {
                case 1: context.reset()
                case 2: context.refreshAllObjects()
                case 3: if let first = authors.first { context.refresh(first, mergeChanges: true) }
                case 4:
                    authors.first?.setValue(-1, forKey: "age")
                    context.rollback()
                default: break
                }
            }
        }
        return [:]
    }
}

/// The same numbers in every run.
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
