import CoreData
import Testing

@Suite("A deletion that is merged after its object was saved again")
struct LateDeletionTests {
    private let container: NSPersistentContainer
    private let (context, other): (NSManagedObjectContext, NSManagedObjectContext)

    init() throws {
        container = try Library.inMemory()
        (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        context.automaticallyMergesChangesFromParent = true
        let other = other
        try other.performAndWait {
            let author = other.make("Author", ["name": "A"])
            for title in ["T", "U"] { other.make("Book", ["title": title, "author": author]) }
            try other.save()
        }
    }

    private static let policies: [NSMergePolicy] = [.overwrite, .mergeByPropertyObjectTrump]

    private func delete(_ title: String, in context: NSManagedObjectContext) throws {
        for book in try context.all("Book", NSPredicate(format: "title == %@", title)) { context.delete(book) }
    }

    private func storedTitles() throws -> [String?] {
        let fresh = container.newBackgroundContext()
        return try fresh.performAndWait { try fresh.all("Book", by: "title").map { $0.string("title") } }
    }

    /// Runs a block once, while the context's save has begun and merges nothing.
    private func during(
        saveOf context: NSManagedObjectContext, _ block: @escaping () throws -> Void, _ save: () throws -> Void
    ) throws {
        nonisolated(unsafe) var isDone = false
        nonisolated(unsafe) let block = block
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextWillSave, object: context, queue: nil
        ) { _ in
            guard !isDone else { return }
            isDone = true
            try? block()
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try save()
    }

    @Test("leaves it there, and later changes are saved", arguments: policies, [false, true])
    func brought(policy: NSMergePolicy, isRefreshed: Bool) async throws {
        context.mergePolicy = policy
        nonisolated(unsafe) var known: NSManagedObject?
        try context.performAndWait {
            let book = try #require(try context.all("Book", NSPredicate(format: "title == 'T'")).first)
            known = book
            book.setValue("new", forKey: "title")
            let deletion = {
                try other.performAndWait {
                    try delete("T", in: other)
                    try other.save()
                }
            }
            try during(saveOf: context, deletion) { try context.save() }
            if isRefreshed { context.refresh(book, mergeChanges: false) }
        }
        try await context.perform(schedule: .enqueued) {
            let book = try #require(known)
            #expect(!book.isDeleted)
            #expect(try context.all("Book", NSPredicate(format: "title == 'new'")) == [book])
            #expect((book.value(forKey: "author") as? NSManagedObject)?.objects("books").contains(book) == true)
            book.setValue("newer", forKey: "title")
            try context.save()
        }
        #expect(try storedTitles() == ["U", "newer"])
    }

    @Test("takes those that nobody saved again out of it")
    func others() async throws {
        context.mergePolicy = NSMergePolicy.overwrite
        nonisolated(unsafe) var known: [NSManagedObject] = []
        try context.performAndWait {
            known = try context.all("Book", by: "title")
            known[0].setValue("new", forKey: "title")
            let deletion = {
                try other.performAndWait {
                    try delete("T", in: other)
                    try delete("U", in: other)
                    try other.save()
                }
            }
            #expect(known[1].string("title") == "U")
            try during(saveOf: context, deletion) { try context.save() }
        }
        try await context.perform(schedule: .enqueued) {
            #expect(!known[0].isDeleted)
            #expect(known[1].isDeleted)
            #expect(try context.all("Book") == [known[0]])
            try context.save()
            #expect(known[1].managedObjectContext == nil)
        }
        #expect(try storedTitles() == ["new"])
    }

    @Test("leaves it there in a child that brought it back to its parent")
    func child() async throws {
        let parent = container.newBackgroundContext()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        child.automaticallyMergesChangesFromParent = true
        child.mergePolicy = NSMergePolicy.overwrite
        nonisolated(unsafe) var known: NSManagedObject?
        try child.performAndWait {
            let book = try #require(try child.all("Book", NSPredicate(format: "title == 'T'")).first)
            known = book
            book.setValue("new", forKey: "title")
            let deletion = {
                try parent.performAndWait {
                    try delete("T", in: parent)
                    try parent.save()
                }
            }
            try during(saveOf: child, deletion) { try child.save() }
        }
        try await child.perform(schedule: .enqueued) {
            let book = try #require(known)
            #expect(!book.isDeleted)
            book.setValue("newer", forKey: "title")
            try child.save()
        }
        try parent.performAndWait { try parent.save() }
        #expect(try storedTitles() == ["U", "newer"])
    }
}
