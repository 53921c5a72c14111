import Testing

@testable import CoreData
@testable import SQLiteEngine
@testable import StoreEngine

@MainActor @Suite("What a fetch of a store in memory asks of SQL")
struct AskingInMemoryTests {
    private func library() throws -> NSManagedObjectContext {
        let context = try Library.inMemory().viewContext
        for title in ["Emma", "Matter"] { context.make("Book", ["title": title]) }
        try context.save()
        context.reset()
        return context
    }

    private func request(_ format: String, by key: String = "title") -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return request
    }

    @Test("is known for the request that was asked for last, and for no other one")
    func latest() throws {
        let context = try library()
        let engine = try #require(
            context.persistentStoreCoordinator?.persistentStores.first?.engine as? SQLiteEngine)
        let layout = try #require(context.entityLayout(named: "Book"))
        let request = request("title == 'Emma'")
        #expect(try context.fetch(request).count == 1)
        let plan = context.plan(for: request, layout)
        #expect(engine.latestAnswer?.isOf(plan) == true)
        #expect(engine.latestAnswer?.isLeft == false)
        var others = [plan, plan, plan]
        others[0].predicate = NSPredicate(format: "title == 'Emma'")
        others[1].sortDescriptors = []
        others[2].entity = try #require(context.entityLayout(named: "Comic"))
        for other in others { #expect(engine.latestAnswer?.isOf(other) == false) }
    }

    @Test("is not taken from one request for the next")
    func inTurn() throws {
        let context = try library()
        let (said, left) = (request("title == 'Emma'"), request("sqrt(title.length) == 2 OR 'x' == 'y'"))
        for _ in 0..<2 {
            #expect(try context.fetch(said).map { $0.string("title") } == ["Emma"])
            #expect(try context.count(for: left) == 1)
            #expect(try context.fetch(left).map { $0.string("title") } == ["Emma"])
            #expect(try context.count(for: said) == 1)
        }
    }

    @Test("keeps no object alive that a predicate compares with")
    func keepsNothing() throws {
        let context = try library()
        weak var book: NSManagedObject?
        do {
            let found = try #require(try context.fetch(request("title == 'Emma'")).first)
            book = found
            let same = NSFetchRequest<NSManagedObject>(entityName: "Book")
            same.predicate = NSPredicate(format: "SELF == %@", found)
            #expect(try context.count(for: same) == 1)
        }
        #expect(book == nil)
    }
}
