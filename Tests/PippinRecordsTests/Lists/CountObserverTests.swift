import Pippin
import PippinRecords
import Testing

@Suite("Observers of a count")
struct CountObserverTests {
    private let shelf: Shelf
    private var manager: PersistenceManager { shelf.manager }
    private let context: NSManagedObjectContext

    init() throws {
        shelf = try Shelf()
        try shelf.save([.ada, .blaise, .carl])
        context = shelf.manager.backgroundContext()
    }

    /// The counts that an observer tells while others work. The context holds no objects.
    private func counts(where predicate: NSPredicate? = nil, during work: () throws -> Void) throws -> [Int] {
        let counts = Locked<[Int]>([])
        let observer = try context.performAndWait {
            UncheckedTransfer(
                value: try CountObserver(PersonRecord.self, where: predicate, in: context) { count in
                    counts.withLock { $0.append(count) }
                })
        }
        try work()
        // What the work told the context has been merged by then.
        context.performAndWait { context.processPendingChanges() }
        return withExtendedLifetime(observer) { counts.withLock { $0 } }
    }

    @Test("hear of deletions by others, of objects that the context does not hold")
    func deletions() throws {
        #expect(try counts { try manager.deleteRecords(entity: PersonRecord.self, uids: ["a"]) } == [2])
        #expect(try counts { try manager.deleteAll(entity: PersonRecord.self) } == [0])
    }

    @Test("hear of updates by others, after which a condition holds for others")
    func updates() throws {
        let old = NSPredicate(format: "age > 37")
        #expect(try counts(where: old) { try shelf.save([Person(uid: "a", name: "Ada", age: 99)]) } == [3])
        #expect(try counts(where: old) { try shelf.save([Person(uid: "a", name: "Countess", age: 99)]) } == [])
    }

    @Test("hear of a reset, which forgets what was inserted")
    func reset() throws {
        try context.performAndWait {
            try PersonRecord.insertOrUpdate(uid: "z", in: context) { _ in }
            context.processPendingChanges()
        }
        #expect(try counts { context.performAndWait { context.reset() } } == [3])
    }
}
