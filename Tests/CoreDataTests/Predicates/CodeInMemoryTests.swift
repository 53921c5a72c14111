import CoreData
import Testing

/// A store in memory has its objects at hand: unlike one in SQLite, it takes predicates and orders that are Swift code.
@MainActor @Suite("A store in memory")
struct CodeInMemoryTests {
    private func library() throws -> NSManagedObjectContext {
        let context = try Library.inMemory().viewContext
        for title in ["Emma", "Matter", "Persuasion"] { context.make("Book", ["title": title]) }
        try context.save()
        context.reset()
        return context
    }

    private func request(_ block: @escaping @Sendable (String) -> Bool) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate { object, _ in
            ((object as? NSManagedObject)?.string("title")).map(block) ?? false
        }
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return request
    }

    @Test("finds by a block, in order and up to the limit, unsaved objects included")
    func block() throws {
        let context = try library()
        let request = request { $0.count > 4 }
        #expect(try context.fetch(request).map { $0.string("title") } == ["Matter", "Persuasion"])
        #expect(try context.count(for: request) == 2)
        context.make("Book", ["title": "Newest"])
        context.make("Book", ["title": "New"])
        #expect(try context.fetch(request).map { $0.string("title") } == ["Matter", "Newest", "Persuasion"])
        #expect(try context.count(for: request) == 3)
        request.fetchLimit = 1
        request.fetchOffset = 1
        #expect(try context.fetch(request).map { $0.string("title") } == ["Newest"])
        let child = NSManagedObjectContext(.mainQueue)
        child.parent = context
        #expect(try child.fetch(request).map { $0.string("title") } == ["Newest"])
    }

    @Test("finds by a block within a compound predicate")
    func compound() throws {
        let context = try library()
        let request = request { $0.hasSuffix("a") }
        let block = try #require(request.predicate)
        let named = NSPredicate(format: "title BEGINSWITH 'E'")
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [named, block])
        #expect(try context.fetch(request).map { $0.string("title") } == ["Emma"])
        request.predicate = NSCompoundPredicate(notPredicateWithSubpredicate: block)
        #expect(try context.fetch(request).map { $0.string("title") } == ["Matter", "Persuasion"])
    }

    @Test("sorts by a comparator")
    func comparator() throws {
        let context = try library()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "title != 'Emma'")
        request.sortDescriptors = [
            NSSortDescriptor(key: "title", ascending: false) { first, second in
                let (a, b) = (first as? String ?? "", second as? String ?? "")
                return a.count < b.count ? .orderedAscending : a.count > b.count ? .orderedDescending : .orderedSame
            }
        ]
        #expect(try context.fetch(request).map { $0.string("title") } == ["Persuasion", "Matter"])
    }

    @Test(
        "evaluates what SQL cannot say: what is in a transformable value",
        arguments: [
            ("tags CONTAINS 'a'", ["both", "one"]), ("ANY tags == 'b'", ["both"]),
            ("ALL tags == 'a'", ["none", "one"]),
            ("tags.@count == 2 AND name == 'both'", ["both"]), ("count:(tags) == 2", ["both"]),
            ("NOT 'a' IN tags AND name != nil", ["none"]),
        ])
    func transformable(format: String, expected: [String]) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TransformerTests.model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
        context.make("Place", ["name": "both", "tags": ["a", "b"] as NSArray])
        context.make("Place", ["name": "one", "tags": ["a"] as NSArray])
        context.make("Place", ["name": "none", "tags": [] as NSArray])
        try context.save()
        context.reset()
        let child = NSManagedObjectContext(.mainQueue)
        child.parent = context
        let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        for includesPending in [true, false] {
            request.includesPendingChanges = includesPending
            #expect(try context.fetch(request).map { $0.string("name") } == expected)
            #expect(try context.count(for: request) == expected.count)
        }
        #expect(try child.fetch(request).map { $0.string("name") } == expected)
        let identifiers = NSFetchRequest<NSManagedObjectID>(entityName: "Place")
        identifiers.resultType = .managedObjectIDResultType
        identifiers.predicate = request.predicate
        #expect(try context.fetch(identifiers).count == expected.count)
    }
}
