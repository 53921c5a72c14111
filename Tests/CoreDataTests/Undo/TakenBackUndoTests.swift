import CoreData
import Testing

@Suite("Undo of a deletion that was taken back without what it had deleted, too")
struct TakenBackUndoTests {
    private let context: NSManagedObjectContext

    init() throws {
        context = try Library.inMemory().newBackgroundContext()
        context.undoManager = UndoManager()
        let context = context
        try context.performAndWait {
            let book = context.make("Book", ["title": "T", "shelf": context.make("Shelf")])
            for title in ["A", "B"] { context.make("Chapter", ["title": title, "book": book]) }
            try context.save()
            context.reset()
        }
    }

    private func event(_ block: () throws -> Void) throws { try context.performAndWait { try block() } }

    @Test("sets both ends of the relationships between them", arguments: [false, true])
    func bothEnds(savesBetween: Bool) throws {
        nonisolated(unsafe) var deleted: NSManagedObject?
        try event {
            deleted = try context.all("Book").first
            if let deleted { context.delete(deleted) }
        }
        let book = try #require(deleted)
        try event { context.insert(book) }
        if savesBetween { try event { try context.save() } }
        try event {
            let chapters = try context.all("Chapter")
            #expect(chapters.isEmpty)
            context.undo()
        }
        try event { context.undo() }
        try event {
            let chapters = try context.all("Chapter", by: "title")
            #expect(chapters.count == 2)
            #expect(chapters.allSatisfy { $0.value(forKey: "book") as? NSManagedObject === book })
            #expect((book.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject] == chapters)
            let shelf = book.value(forKey: "shelf") as? NSManagedObject
            #expect(shelf?.value(forKey: "book") as? NSManagedObject === book)
            try context.save()
            context.refreshAllObjects()
            #expect((book.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject] == chapters)
        }
    }
}
