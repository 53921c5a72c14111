import CoreData
import Testing

@Suite("Relationships of an object that a merge policy saves again after others deleted it")
struct ReinsertedEndsTests {
    private let container: NSPersistentContainer
    private let (context, other): (NSManagedObjectContext, NSManagedObjectContext)

    init() throws {
        container = try Library.inMemory()
        (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        let other = other
        try other.performAndWait {
            let book = other.make(
                "Book", ["title": "T", "author": other.make("Author", ["name": "A"]), "shelf": other.make("Shelf")])
            book.setValue(Set(["1", "2"].map { other.make("Tag", ["name": $0]) }), forKey: "tags")
            other.make("Chapter", ["title": "C", "book": book])
            try other.save()
        }
    }

    /// Saves a change of the book that another context has deleted meanwhile, and returns which relationships have
    /// both ends.
    private func saved(_ policy: NSMergePolicy, isRead: Bool = true, _ change: () throws -> Void) throws -> [String] {
        context.mergePolicy = policy
        return try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            #expect(book.string("title") == "T")
            if isRead {
                #expect(ends(of: book) == ["author", "shelf", "1", "2"])
                #expect((book.value(forKey: "chapters") as? NSOrderedSet)?.count == 1)
            }
            try other.performAndWait {
                try change()
                try other.save()
            }
            book.setValue("new", forKey: "title")
            try context.save()
            #expect(!context.hasChanges)
            let fresh = container.newBackgroundContext()
            try fresh.performAndWait {
                let same = try fresh.existingObject(with: book.objectID)
                #expect(same.string("title") == "new")
                #expect(ends(of: same) == ends(of: book))
            }
            #expect((book.value(forKey: "chapters") as? NSOrderedSet)?.count == 0)
            return ends(of: book)
        }
    }

    private func ends(of book: NSManagedObject) -> [String] {
        let (author, shelf) = (book.value(forKey: "author"), book.value(forKey: "shelf"))
        var found: [String] = []
        if let author = author as? NSManagedObject {
            found.append(author.objects("books").contains(book) ? "author" : "author only")
        }
        if let shelf = shelf as? NSManagedObject {
            found.append(shelf.value(forKey: "book") as? NSManagedObject === book ? "shelf" : "shelf only")
        }
        let tags = book.objects("tags").sorted { ($0.string("name") ?? "") < ($1.string("name") ?? "") }
        return found + tags.filter { $0.objects("books") == [book] }.map { $0.string("name") ?? "-" }
    }

    private static let policies: [NSMergePolicy] = [.overwrite, .mergeByPropertyObjectTrump]

    private func delete(_ entity: String) throws { for object in try other.all(entity) { other.delete(object) } }

    @Test("have both ends again, without parts that were deleted with it", arguments: policies, [true, false])
    func bothEnds(policy: NSMergePolicy, isRead: Bool) throws {
        let ends = try saved(policy, isRead: isRead) { try delete("Book") }
        // Nobody knows the pairs of a relationship that was not read.
        #expect(ends == (isRead ? ["author", "shelf", "1", "2"] : ["author", "shelf"]))
    }

    @Test("do not lead to what others have deleted, too", arguments: policies)
    func gone(policy: NSMergePolicy) throws {
        #expect(try saved(policy) { for name in ["Author", "Shelf", "Tag"] { try delete(name) } } == [])
    }

    @Test("do not take away what others have given to another object", arguments: policies)
    func taken(policy: NSMergePolicy) throws {
        let ends = try saved(policy) {
            let shelf = try other.all("Shelf").first
            try delete("Book")
            other.make("Book", ["title": "other", "shelf": shelf])
        }
        #expect(ends == ["author", "1", "2"])
    }
}
