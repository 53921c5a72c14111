import CoreData
import Testing

@Suite("Relationships of an object that a child's merge policy brings back")
struct RevivedRelationshipTests {
    /// A book with an author, a shelf, two tags and a chapter.
    private let container: NSPersistentContainer
    private let (parent, child): (NSManagedObjectContext, NSManagedObjectContext)

    init() throws {
        container = try Library.inMemory()
        parent = container.newBackgroundContext()
        child = Family.child(of: parent)
        let parent = parent
        try parent.performAndWait {
            let book = parent.make(
                "Book", ["title": "T", "author": parent.make("Author", ["name": "A"]), "shelf": parent.make("Shelf")])
            book.setValue(Set(["1", "2"].map { parent.make("Tag", ["name": $0]) }), forKey: "tags")
            parent.make("Chapter", ["title": "C", "book": book])
            parent.make("Tag", ["name": "3"])
            parent.make("Shelf", ["code": "new"])
            try parent.save()
            parent.reset()
        }
    }

    private func ends(of book: NSManagedObject) -> [String] {
        let (author, shelf) = (book.value(forKey: "author"), book.value(forKey: "shelf"))
        var found: [String] = []
        if let author = author as? NSManagedObject, author.objects("books") == [book] { found.append("author") }
        if let shelf = shelf as? NSManagedObject, shelf.value(forKey: "book") as? NSManagedObject === book {
            found.append("shelf")
        }
        let tags = book.objects("tags").sorted { ($0.string("name") ?? "") < ($1.string("name") ?? "") }
        for tag in tags where tag.objects("books") == [book] { found.append(tag.string("name") ?? "-") }
        return found
    }

    private func check(_ title: String, _ expected: [String]) throws {
        for context in [parent, container.newBackgroundContext()] {
            try context.performAndWait {
                let book = try #require(try context.all("Book").first)
                #expect(book.string("title") == title)
                #expect(ends(of: book) == expected)
                #expect((book.value(forKey: "chapters") as? NSOrderedSet)?.count == 0)
                #expect(try context.all("Chapter").isEmpty)
                #expect(!context.hasChanges)
            }
        }
    }

    private static let policies: [NSMergePolicy] = [.overwrite, .mergeByPropertyObjectTrump]

    @Test("have both ends again, without parts that were deleted with it", arguments: policies, [false, true])
    func bothEnds(policy: NSMergePolicy, isRead: Bool) throws {
        child.mergePolicy = policy
        let book = try child.performAndWait {
            let book = try #require(try child.all("Book").first)
            book.setValue("new", forKey: "title")
            if isRead { #expect(ends(of: book).count == 4) }
            return book
        }
        try parent.performAndWait { parent.delete(try #require(try parent.all("Book").first)) }
        try child.performAndWait {
            try child.save()
            #expect(ends(of: book) == ["author", "shelf", "1", "2"])
        }
        try parent.performAndWait { try parent.save() }
        try check("new", ["author", "shelf", "1", "2"])
    }

    @Test("have what the child changed, at both ends", arguments: policies)
    func changed(policy: NSMergePolicy) throws {
        child.mergePolicy = policy
        try child.performAndWait {
            let book = try #require(try child.all("Book").first)
            book.setValue(nil, forKey: "author")
            book.setValue(try child.all("Shelf", NSPredicate(format: "code == 'new'")).first, forKey: "shelf")
            book.setValue(Set(try child.all("Tag", NSPredicate(format: "name != '1'"))), forKey: "tags")
        }
        try parent.performAndWait { parent.delete(try #require(try parent.all("Book").first)) }
        try child.performAndWait { try child.save() }
        try parent.performAndWait { try parent.save() }
        try check("T", ["shelf", "2", "3"])
        let fresh = container.newBackgroundContext()
        try fresh.performAndWait {
            let (shelves, authors) = (try fresh.all("Shelf"), try fresh.all("Author"))
            #expect(shelves.filter { $0.value(forKey: "book") != nil }.map { $0.string("code") } == ["new"])
            #expect(authors.map { $0.objects("books").count } == [0])
        }
    }

    @Test("do not lead to what the parent deleted with it")
    func gone() throws {
        child.mergePolicy = NSMergePolicy.overwrite
        try child.performAndWait {
            let book = try #require(try child.all("Book").first)
            #expect(ends(of: book).count == 4)
            book.setValue("new", forKey: "title")
        }
        try parent.performAndWait {
            let book = try #require(try parent.all("Book").first)
            for tag in try parent.all("Tag", NSPredicate(format: "name == '1'")) { parent.delete(tag) }
            if let shelf = book.value(forKey: "shelf") as? NSManagedObject { parent.delete(shelf) }
            parent.delete(book)
        }
        try child.performAndWait { try child.save() }
        try parent.performAndWait { try parent.save() }
        try check("new", ["author", "2"])
    }

    @Test("do not take away what the parent has given to another object since")
    func taken() throws {
        child.mergePolicy = NSMergePolicy.overwrite
        try child.performAndWait {
            let book = try #require(try child.all("Book").first)
            #expect(ends(of: book).count == 4)
            book.setValue("new", forKey: "title")
        }
        try parent.performAndWait {
            let book = try #require(try parent.all("Book").first)
            let shelf = try #require(book.value(forKey: "shelf") as? NSManagedObject)
            let chapter = try #require(try parent.all("Chapter").first)
            let other = parent.make("Book", ["title": "other", "shelf": shelf])
            chapter.setValue(other, forKey: "book")
            parent.delete(book)
        }
        try child.performAndWait { try child.save() }
        try parent.performAndWait { try parent.save() }
        for context in [parent, container.newBackgroundContext()] {
            try context.performAndWait {
                let books = try context.all("Book", by: "title")
                #expect(books.map { $0.string("title") } == ["new", "other"])
                #expect(books.map { ends(of: $0) } == [["author", "1", "2"], ["shelf"]])
                #expect(books.map { ($0.value(forKey: "chapters") as? NSOrderedSet)?.count } == [0, 1])
            }
        }
    }

    @Test("have both ends where others deleted the object, and the parent has merged that", arguments: policies)
    func merged(policy: NSMergePolicy) throws {
        parent.automaticallyMergesChangesFromParent = true
        child.mergePolicy = policy
        try child.performAndWait {
            let book = try #require(try child.all("Book").first)
            #expect(ends(of: book).count == 4)
            book.setValue("new", forKey: "title")
        }
        let other = container.newBackgroundContext()
        try other.performAndWait {
            for book in try other.all("Book") { other.delete(book) }
            try other.save()
        }
        parent.performAndWait {}
        try child.performAndWait { try child.save() }
        try parent.performAndWait { try parent.save() }
        try check("new", ["author", "shelf", "1", "2"])
    }

    @Test("leave again when the parent undoes that")
    func undone() throws {
        parent.undoManager = UndoManager()
        child.mergePolicy = NSMergePolicy.overwrite
        try child.performAndWait { try child.all("Book").first?.setValue("new", forKey: "title") }
        try parent.performAndWait { parent.delete(try #require(try parent.all("Book").first)) }
        try child.performAndWait { try child.save() }
        try parent.performAndWait {
            parent.processPendingChanges()
            parent.undo()
            #expect(try parent.all("Book").isEmpty)
            #expect(try parent.all("Tag").allSatisfy { $0.objects("books").isEmpty })
            try parent.save()
        }
        let fresh = container.newBackgroundContext()
        #expect(try fresh.performAndWait { try fresh.all("Book").count } == 0)
    }
}
