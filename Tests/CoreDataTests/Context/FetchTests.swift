import CoreData
import Testing

@MainActor @Suite("Fetching")
struct FetchTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        container = try Library.inMemory()
        let author = context.make("Author", ["name": "A"])
        for number in 1...10 {
            context.make("Book", ["title": "T\(number)", "price": Double(number), "author": author])
        }
        context.make("Comic", ["title": "C", "artist": "X", "price": 11.0])
        try context.save()
        context.reset()
    }

    private func titles(_ request: NSFetchRequest<NSManagedObject>) throws -> [String] {
        try context.fetch(request).compactMap { $0.string("title") }
    }

    private func books(_ format: String? = nil, _ arguments: Any?...) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        if let format {
            request.predicate = NSPredicate(format: format, argumentArray: arguments.map { $0 ?? NSNull() })
        }
        request.sortDescriptors = [NSSortDescriptor(key: "price", ascending: true)]
        return request
    }

    @Test("Objects come in the order of the sort descriptors, within limit and offset")
    func order() throws {
        let request = books()
        request.fetchOffset = 2
        request.fetchLimit = 3
        #expect(try titles(request) == ["T3", "T4", "T5"])
    }

    @Test("Objects of subentities come too, unless they are excluded")
    func subentities() throws {
        let request = books("price > %d", 9)
        #expect(try titles(request) == ["T10", "C"])
        request.includesSubentities = false
        #expect(try titles(request) == ["T10"])
    }

    @Test("An object of a subentity is of that entity")
    func subentityObject() throws {
        let comic = try #require(try context.all("Book", NSPredicate(format: "title == %@", "C")).first)
        #expect(comic.entity.name == "Comic")
        #expect(comic.string("artist") == "X")
    }

    @Test("Fetching twice gives the same objects")
    func uniquing() throws {
        let first = try context.fetch(books())
        let second = try context.fetch(books())
        #expect(zip(first, second).allSatisfy { $0 === $1 })
    }

    @Test("Fetched objects are faults until a value is read")
    func faults() throws {
        let book = try #require(try context.fetch(books()).first)
        #expect(book.isFault)
        #expect(book.string("title") == "T1")
        #expect(!book.isFault)
    }

    @Test("Unsaved changes count: inserted, updated and deleted objects")
    func pendingChanges() throws {
        let all = try context.fetch(books())
        all[0].setValue(100.0, forKey: "price")
        context.delete(all[1])
        context.make("Book", ["title": "N", "price": 2.5])
        #expect(try titles(books("price < %d OR price > %d", 4, 10)) == ["N", "T3", "C", "T1"])
        let request = books("price < %d OR price > %d", 4, 10)
        request.includesPendingChanges = false
        #expect(Set(try titles(request)).contains("T2"))
    }

    @Test("Counts and IDs need no objects")
    func countsAndIdentifiers() throws {
        #expect(try context.count(for: books("price <= %d", 5)) == 5)
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
        request.resultType = .managedObjectIDResultType
        #expect(try context.fetch(request).count == 11)
        #expect(context.registeredObjects.isEmpty)
    }

    @Test("A dictionary fetch gives the properties that it names")
    func dictionaries() throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title", "price"]
        request.predicate = NSPredicate(format: "price == 3")
        let found = try context.fetch(request)
        #expect(found == [["title": "T3", "price": 3.0]])
    }

    @Test("A predicate follows to-one and to-many relationships")
    func relationships() throws {
        #expect(try context.all("Book", NSPredicate(format: "author.name == %@", "A")).count == 10)
        #expect(try context.all("Author", NSPredicate(format: "ANY books.price > %d", 9)).count == 1)
        #expect(try context.all("Author", NSPredicate(format: "ANY books.price > %d", 10)).isEmpty)
        let author = try #require(try context.all("Author").first)
        #expect(try context.all("Book", NSPredicate(format: "author == %@", author)).count == 10)
    }

    @Test("Prefetching fills relationships, so that their objects are not fetched one by one")
    func prefetching() throws {
        let request = books("price <= 3")
        request.relationshipKeyPathsForPrefetching = ["author"]
        let book = try #require(try context.fetch(request).first)
        let author = try #require(book.value(forKey: "author") as? NSManagedObject)
        #expect(author.string("name") == "A")
    }

    @Test("With a batch size, a fault loads its whole batch")
    func batches() throws {
        let request = books()
        request.fetchBatchSize = 4
        let found = try context.fetch(request)
        #expect(found.count == 11)
        #expect(found[0].string("title") == "T1")
        #expect(found[..<4].allSatisfy { !$0.isFault })
        #expect(found[4].isFault)
    }

    @Test("An unknown entity is an error that names the entities there are")
    func unknownEntity() throws {
        let error = #expect(throws: NSError.self) {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Bok"))
        }
        #expect(error?.localizedDescription.contains("“Bok”") == true)
        #expect(error?.localizedDescription.contains("Book") == true)
    }

    @Test("existingObject(with:) throws for what is gone, object(with:) gives a fault")
    func existing() throws {
        let book = try #require(try context.fetch(books()).first)
        let identifier = book.objectID
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.delete(try other.existingObject(with: identifier))
            try other.save()
        }
        context.reset()
        #expect(throws: NSError.self) { try context.existingObject(with: identifier) }
        #expect(context.object(with: identifier).isFault)
    }
}
