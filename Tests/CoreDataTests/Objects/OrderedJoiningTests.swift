import CoreData
import Testing

@Suite("Objects that join an ordered relationship by their own side")
struct OrderedJoiningTests {
    private func titles(_ container: NSPersistentContainer) throws -> [String] {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let book = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first
            let chapters = (book?.value(forKey: "chapters") as? NSOrderedSet)?.array ?? []
            return chapters.compactMap { ($0 as? NSManagedObject)?.string("title") }
        }
    }

    @Test("A new one comes at the end, also where the others were not read")
    func atTheEnd() throws {
        let container = try Library.inMemory()
        let context = container.newBackgroundContext()
        for number in 1...4 {
            try context.performAndWait {
                let book =
                    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first
                    ?? context.make("Book", ["title": "Emma"])
                let chapter = context.make("Chapter", ["title": "\(number)"])
                chapter.setValue(book, forKey: "book")
                try context.save()
                context.reset()
            }
        }
        #expect(try titles(container) == ["1", "2", "3", "4"])
    }
}
