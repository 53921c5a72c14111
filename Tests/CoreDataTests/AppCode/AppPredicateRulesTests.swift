import CoreData
import Testing

// As in LibraryRulesTests: what the test suite of Nos, which passes on Apple's framework, asks stores for.
@Suite("Predicates that apps rely on")
struct AppPredicateRulesTests {
    /// Emma and Walden have books on shelves, one of Emma's has none; all of it saved.
    private func saved() throws -> NSManagedObjectContext {
        let context = try Library.inMemory().viewContext
        for (name, title, code) in [("Emma", "A", "x"), ("Emma", "B", nil), ("Walden", "C", "y")] {
            let author = try find("Author", "name == %@", name, in: context) ?? context.make("Author", ["name": name])
            let book = context.make("Book", ["title": title])
            book.setValue(author, forKey: "author")
            if let code { book.setValue(context.make("Shelf", ["code": code]), forKey: "shelf") }
        }
        try context.save()
        return context
    }

    private func find(
        _ entity: String, _ format: String, _ argument: Any, in context: NSManagedObjectContext
    ) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: format, argument)
        return try context.fetch(request).first
    }

    private func titles(_ predicate: NSPredicate, in context: NSManagedObjectContext) throws -> [String?] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try context.fetch(request).map { $0.value(forKey: "title") as? String }
    }

    @Test("A path from an argument is the value that it leads to, also through to-many relationships (Nos)")
    func pathFromArgument() throws {
        let context = try saved()
        let emma = try #require(try find("Author", "name == %@", "Emma", in: context))
        #expect(try titles(NSPredicate(format: "author.name == %@.name", emma), in: context) == ["A", "B"])
        #expect(try titles(NSPredicate(format: "NOT SELF IN %@.books", emma), in: context) == ["C"])
        #expect(try titles(NSPredicate(format: "shelf IN %@.books.shelf", emma), in: context) == ["A"])
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "title != 'A'"), NSPredicate(format: "author.name == %@.name", emma),
        ])
        #expect(try titles(both, in: context) == ["B"])
    }

    @Test("ANY before a to-many relationship that CONTAINS an object changes nothing (DuckDuckGo)")
    func anyContains() throws {
        let context = try saved()
        let book = try #require(try find("Book", "title == %@", "A", in: context))
        for format in ["books CONTAINS %@", "ANY books CONTAINS %@"] {
            let author = try find("Author", format, book, in: context)
            #expect(author?.value(forKey: "name") as? String == "Emma", "\(format)")
            let other = try find("Author", "name == %@", "Walden", in: context)
            let inMemory = [author, other].map { NSPredicate(format: format, book).evaluate(with: $0) }
            #expect(inMemory == [true, false], "\(format)")
        }
    }

    @Test("A path from an argument is read for each fetch, with changes that were not saved (Nos)")
    func pathFromChangedArgument() throws {
        let context = try saved()
        let emma = try #require(try find("Author", "name == %@", "Emma", in: context))
        let predicate = NSPredicate(format: "SELF IN %@.books", emma)
        #expect(try titles(predicate, in: context) == ["A", "B"])
        try #require(try find("Book", "title == %@", "C", in: context)).setValue(emma, forKey: "author")
        #expect(try titles(predicate, in: context) == ["A", "B", "C"])
    }

    @Test("Batch requests follow paths from arguments, too (Nos)")
    func pathFromArgumentOfBatch() throws {
        let context = try saved()
        let emma = try #require(try find("Author", "name == %@", "Emma", in: context))
        let update = NSBatchUpdateRequest(entityName: "Book")
        update.predicate = NSPredicate(format: "author.name == %@.name", emma)
        update.propertiesToUpdate = ["price": 2]
        update.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)
        let books = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        books.predicate = NSPredicate(format: "NOT SELF IN %@.books", emma)
        let deletion = NSBatchDeleteRequest(fetchRequest: books)
        deletion.resultType = .resultTypeCount
        #expect((try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 1)
    }

    @Test("The subquery of a to-one relationship has its object or none, in the store and in memory (Nos)")
    func subqueryOfOne() throws {
        let context = try saved()
        let counts = [
            "SUBQUERY(shelf, $s, $s.code == 'x').@count > 0": ["A"],
            "SUBQUERY(shelf, $s, $s.code == 'x').@count == 0": ["B", "C"],
            "SUBQUERY(shelf, $s, TRUEPREDICATE).@count == 1": ["A", "C"],
        ]
        for (format, expected) in counts {
            let predicate = NSPredicate(format: format)
            #expect(try titles(predicate, in: context) == expected, "\(format)")
            let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
            let matching = books.filter { predicate.evaluate(with: $0) }
            #expect(Set(matching.map { $0.value(forKey: "title") as? String }) == Set(expected), "\(format)")
        }
    }

    @Test(
        "A key to prefetch that is not a relationship is passed over, the others are followed (Nos, SyncKit)",
        arguments: [["books.shelf.code"], ["books.nothing"], ["nothing", "books"], ["books", "books.title.nothing"]])
    func prefetchedAttribute(keyPaths: [String]) throws {
        let context = try saved()
        context.reset()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.relationshipKeyPathsForPrefetching = keyPaths
        let authors = try context.fetch(request)
        #expect(authors.count == 2)
        #expect(authors.allSatisfy { !$0.hasFault(forRelationshipNamed: "books") })
    }

    @Test("A predicate made without arguments is true for everything (amperfy, WooCommerce)")
    func withoutArguments() throws {
        let context = try saved()
        for predicate in [NSPredicate(), NSCompoundPredicate()] {
            #expect(try titles(predicate, in: context) == ["A", "B", "C"])
            #expect(predicate.evaluate(with: nil))
        }
        #expect(NSCompoundPredicate().compoundPredicateType == .and && NSCompoundPredicate().subpredicates.isEmpty)
        #expect(formatString(of: NSPredicate()) == "TRUEPREDICATE")
    }
}
