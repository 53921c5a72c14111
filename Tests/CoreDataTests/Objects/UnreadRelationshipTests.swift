import CoreData
import Testing

@Suite("Changes of a to-many relationship that was not read before")
struct UnreadRelationshipTests {
    /// A store with the tags "new" and "old", the second of them on the one book, and the chapters 1 to 3.
    private func library() throws -> NSPersistentContainer {
        let container = try Library.inMemory()
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let book = context.make("Book", ["title": "Emma"])
            context.make("Tag", ["name": "new"])
            context.make("Tag", ["name": "old", "books": NSSet(object: book)])
            let author = context.make("Author", ["name": "Jane"])
            context.make("Author", ["name": "Ann"])
            book.setValue(author, forKey: "author")
            for number in 1...3 { context.make("Chapter", ["title": "\(number)"]).setValue(book, forKey: "book") }
            try context.save()
        }
        return container
    }

    /// Changes the book and a tag as faults, saves, and gives the names of the book's tags before and after.
    private func tags(
        inChild: Bool, _ name: String, _ change: (NSMutableSet, NSManagedObject) -> Void
    ) throws -> (unsaved: [String], saved: [String]) {
        let container = try library()
        let parent = container.newBackgroundContext()
        let context = inChild ? Family.child(of: parent) : parent
        func names(_ context: NSManagedObjectContext) throws -> [String] {
            let tags = try #require(try context.all("Book").first).value(forKey: "tags") as? Set<NSManagedObject>
            return (tags ?? []).compactMap { $0.string("name") }.sorted()
        }
        let unsaved = try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            let tag = try #require(try context.all("Tag", NSPredicate(format: "name == %@", name)).first)
            change(book.mutableSetValue(forKey: "tags"), tag)
            let unsaved = try names(context)
            try context.save()
            return unsaved
        }
        try parent.performAndWait { try parent.save() }
        let fresh = container.newBackgroundContext()
        return (unsaved, try fresh.performAndWait { try names(fresh) })
    }

    @Test("A member that is removed without having been there, and then added, is there", arguments: [false, true])
    func removedAndAdded(inChild: Bool) throws {
        let tags = try tags(inChild: inChild, "new") { tags, tag in
            tags.remove(tag)
            tags.add(tag)
        }
        #expect(tags.unsaved == ["new", "old"])
        #expect(tags.saved == ["new", "old"])
    }

    @Test("A member that is added although it is there, and then removed, is gone", arguments: [false, true])
    func addedAndRemoved(inChild: Bool) throws {
        let tags = try tags(inChild: inChild, "old") { tags, tag in
            tags.add(tag)
            tags.remove(tag)
        }
        #expect(tags.unsaved == [])
        #expect(tags.saved == [])
    }

    @Test("A member that is removed and added again stays", arguments: [false, true])
    func removedAndAddedAgain(inChild: Bool) throws {
        let tags = try tags(inChild: inChild, "old") { tags, tag in
            tags.remove(tag)
            tags.add(tag)
        }
        #expect(tags.unsaved == ["old"])
        #expect(tags.saved == ["old"])
    }

    @Test("A new object that is added and removed leaves nothing to save")
    func newObject() throws {
        let container = try library()
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            let tag = context.make("Tag", ["name": "third"])
            let tags = book.mutableSetValue(forKey: "tags")
            tags.add(tag)
            tags.remove(tag)
            try context.save()
            #expect(tags.count == 1)
        }
    }

    @Test("An object that was removed without being a member joins by its own side")
    func joining() throws {
        let container = try library()
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            let ann = try #require(try context.all("Author", NSPredicate(format: "name == 'Ann'")).first)
            ann.mutableSetValue(forKey: "books").remove(book)
            book.setValue(ann, forKey: "author")
            #expect(ann.value(forKey: "books") as? Set<NSManagedObject> == [book])
            try context.save()
            #expect(ann.value(forKey: "books") as? Set<NSManagedObject> == [book])
        }
    }

    @Test("A member of an ordered one that leaves and joins by its own side comes at the end")
    func orderedAgain() throws {
        let container = try library()
        let context = container.newBackgroundContext()
        func titles() throws -> [String] {
            let book = try #require(try context.all("Book").first)
            let chapters = (book.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
            return chapters.compactMap { $0.string("title") }
        }
        try context.performAndWait {
            let first = try #require(try context.all("Chapter", NSPredicate(format: "title == '1'")).first)
            let book = first.value(forKey: "book")
            first.setValue(nil, forKey: "book")
            first.setValue(book, forKey: "book")
            #expect(try titles() == ["2", "3", "1"])
            try context.save()
            context.reset()
            #expect(try titles() == ["2", "3", "1"])
        }
    }
}
