import CoreData
import Testing

@Suite("Deletions that a child context saves")
struct ChildDeletionTests {
    /// Two authors, the first with a book that has one chapter and a shelf.
    private func parent() throws -> NSManagedObjectContext {
        let parent = try Library.inMemory().newBackgroundContext()
        try parent.performAndWait {
            let author = parent.make("Author", ["name": "Jane"])
            parent.make("Author", ["name": "Ann"])
            let book = parent.make("Book", ["title": "Emma", "author": author])
            parent.make("Chapter", ["title": "1"]).setValue(book, forKey: "book")
            try parent.save()
        }
        return parent
    }

    @Test("leave what had left the deleted object before, by either side", arguments: [false, true], [false, true])
    func moved(byOwnSide: Bool, isReadAbove: Bool) throws {
        let parent = try parent()
        let child = Family.child(of: parent)
        func authors(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
            try context.all("Author", by: "name")
        }
        let kept = try parent.performAndWait {
            if !isReadAbove { parent.reset() }
            let authors = try authors(parent)
            return isReadAbove ? authors.map { $0.value(forKey: "books") as? NSSet } : []
        }
        try child.performAndWait {
            let authors = try authors(child)
            let book = try #require(try child.all("Book").first)
            if byOwnSide {
                book.setValue(authors[0], forKey: "author")
            } else {
                authors[1].mutableSetValue(forKey: "books").remove(book)
                authors[0].mutableSetValue(forKey: "books").add(book)
            }
            child.delete(authors[1])
            try child.save()
        }
        try parent.performAndWait {
            let book = try #require(try parent.all("Book").first)
            #expect((book.value(forKey: "author") as? NSManagedObject)?.string("name") == "Ann")
            try parent.save()
            #expect(try parent.all("Book").count == 1)
            #expect(try parent.all("Chapter").count == 1)
            #expect(try authors(parent).map { $0.string("name") } == ["Ann"])
        }
        _ = kept
    }

    @Test("leave what a to-one relationship led to before")
    func toOne() throws {
        let (house, key) = (Library.entity("House", []), Library.entity("Key", []))
        Library.connect(house, "key", toMany: false, deleteRule: .cascadeDeleteRule, key, "house")
        let model = NSManagedObjectModel()
        model.entities = [house, key]
        let parent = try Library.inMemory(model).newBackgroundContext()
        try parent.performAndWait {
            parent.make("House", ["key": parent.make("Key")])
            try parent.save()
        }
        let child = Family.child(of: parent)
        try child.performAndWait {
            let house = try #require(try child.all("House").first)
            house.setValue(nil, forKey: "key")
            child.delete(house)
            try child.save()
        }
        try parent.performAndWait {
            try parent.save()
            #expect(try parent.all("Key").count == 1)
            #expect(try parent.all("House").isEmpty)
        }
    }
}
