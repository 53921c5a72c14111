import CoreData
import Testing

@Suite("An object that a merge policy inserts again")
struct SameVersionTests {
    @Test("is not taken for the one that was deleted")
    func version() throws {
        let container = try Library.inMemory()
        let (one, two, three) = (
            container.newBackgroundContext(), container.newBackgroundContext(), container.newBackgroundContext()
        )
        try one.performAndWait {
            one.make("Book", ["title": "T", "price": 1])
            try one.save()
        }
        let (mine, theirs) = try (
            #require(two.performAndWait { try two.all("Book").first }),
            #require(three.performAndWait { try three.all("Book").first })
        )
        two.performAndWait { #expect(mine.string("title") == "T") }
        three.performAndWait { #expect(theirs.string("title") == "T") }
        try one.performAndWait {
            for book in try one.all("Book") { one.delete(book) }
            try one.save()
        }
        two.mergePolicy = NSMergePolicy.overwrite
        try two.performAndWait {
            mine.setValue(2, forKey: "price")
            try two.save()
        }
        three.performAndWait {
            theirs.setValue("X", forKey: "title")
            #expect(throws: (any Error).self) { try three.save() }
        }
    }

    @Test("is not taken for the deleted one, if a child inserts it", arguments: [1, 2])
    func child(levels: Int) throws {
        let container = try Library.inMemory()
        let (one, three, top) = (
            container.newBackgroundContext(), container.newBackgroundContext(), container.newBackgroundContext()
        )
        var contexts = [top]
        for _ in 0..<levels {
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = contexts.last
            contexts.append(child)
        }
        let child = try #require(contexts.last)
        child.mergePolicy = NSMergePolicy.overwrite
        try one.performAndWait {
            one.make("Book", ["title": "T", "price": 1])
            try one.save()
        }
        let mine = try #require(child.performAndWait { try child.all("Book").first })
        let theirs = try #require(three.performAndWait { try three.all("Book").first })
        child.performAndWait { #expect(mine.string("title") == "T") }
        three.performAndWait { #expect(theirs.string("title") == "T") }
        // Nobody above the child has the object.
        for context in contexts.dropLast() { context.performAndWait { context.reset() } }
        try one.performAndWait {
            for book in try one.all("Book") { one.delete(book) }
            try one.save()
        }
        child.performAndWait { mine.setValue(2, forKey: "price") }
        for context in contexts.reversed() { try context.performAndWait { try context.save() } }
        three.performAndWait {
            theirs.setValue("X", forKey: "title")
            #expect(throws: (any Error).self) { try three.save() }
        }
        // Who brought it back goes on.
        child.performAndWait { mine.setValue(3, forKey: "price") }
        for context in contexts.reversed() { try context.performAndWait { try context.save() } }
        let price = try one.performAndWait { try one.all("Book").map { $0.value(forKey: "price") as? Double } }
        #expect(price == [3])
    }

    @Test("is not taken for the deleted one, if undo inserts it")
    func undone() throws {
        let container = try Library.inMemory()
        let (one, two, three) = (
            container.newBackgroundContext(), container.newBackgroundContext(), container.newBackgroundContext()
        )
        one.undoManager = UndoManager()
        let mine = try one.performAndWait {
            let book = one.make("Book", ["title": "T", "price": 1])
            try one.save()
            return book
        }
        try two.performAndWait {
            try two.all("Book").first?.setValue(2, forKey: "price")
            try two.save()
        }
        let theirs = try #require(three.performAndWait { try three.all("Book").first })
        three.performAndWait { #expect(theirs.string("title") == "T") }
        one.performAndWait {
            one.delete(mine)
            one.processPendingChanges()
        }
        try two.performAndWait {
            for book in try two.all("Book") { two.delete(book) }
            try two.save()
        }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSDeletedObjectIDsKey: [mine.objectID]], into: [one])
        try one.performAndWait {
            one.undo()
            try one.save()
        }
        three.performAndWait {
            theirs.setValue("X", forKey: "title")
            #expect(throws: (any Error).self) { try three.save() }
        }
    }
}
