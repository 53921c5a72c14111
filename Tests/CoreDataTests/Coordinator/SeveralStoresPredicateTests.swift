import CoreData
import TestSupport
import Testing

/// Two stores whose objects have the same keys: `Ada` and `Notes` in one, `Emma` and `Novel` in the other.
@Suite("Objects of several stores in predicates")
struct SeveralStoresPredicateTests {
    let folder: TestFolder
    let coordinator: NSPersistentStoreCoordinator
    let stores: [NSPersistentStore]
    let context: NSManagedObjectContext

    init() throws {
        folder = try TestFolder()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        stores = try ["a.sqlite", "b.sqlite"].map { [coordinator, folder] name in
            try coordinator.addPersistentStore(type: .sqlite, at: folder.file(name))
        }
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { [context, stores] in
            for (store, names) in zip(stores, [("Ada", "Notes"), ("Emma", "Novel")]) {
                let author = context.make("Author", ["name": names.0])
                let book = context.make("Book", ["title": names.1, "author": author])
                let tag = context.make("Tag", ["name": names.0])
                book.setValue(Set([tag]), forKey: "tags")
                for object in [author, book, tag] { context.assign(object, to: store) }
            }
            try context.save()
        }
    }

    private func author(_ name: String) throws -> NSManagedObject {
        try #require(context.all("Author", NSPredicate(format: "name == %@", name)).first)
    }

    /// The titles that a predicate finds; its count and its IDs must be as many.
    private func titles(_ format: String, _ arguments: Any...) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        let found = try context.fetch(request)
        let count = try context.count(for: request)
        #expect(count == found.count)
        let identifiers = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
        identifiers.resultType = .managedObjectIDResultType
        identifiers.predicate = request.predicate
        let ids = try context.fetch(identifiers)
        #expect(Set(ids) == Set(found.map(\.objectID)))
        return found.compactMap { $0.string("title") }.sorted()
    }

    @Test("A condition on a relationship finds the objects of its object's store alone")
    func relationship() throws {
        try context.performAndWait {
            let (ada, emma) = (try author("Ada"), try author("Emma"))
            let keys = [ada, emma].map { $0.objectID.uriRepresentation().lastPathComponent }
            #expect(keys[0] == keys[1])
            // The same form again and again, so that the second runs a cached statement.
            #expect(try titles("author == %@", ada) == ["Notes"])
            #expect(try titles("author == %@", emma) == ["Novel"])
            #expect(try titles("author == %@", ada.objectID) == ["Notes"])
            #expect(try titles("%@ == author", emma) == ["Novel"])
            #expect(try titles("author != %@", ada) == ["Novel"])
            #expect(try titles("NOT author == %@", ada) == ["Novel"])
            #expect(try titles("author IN %@", [ada]) == ["Notes"])
            #expect(try titles("author IN %@", [ada, emma]) == ["Notes", "Novel"])
            #expect(try titles("NOT author IN %@", [emma]) == ["Notes"])
            #expect(try titles("author IN %@", Array(repeating: emma.objectID, count: 20)) == ["Novel"])
            let tag = try #require(context.all("Tag", by: "name").first)
            #expect(try titles("ANY tags IN %@", [tag]) == ["Notes"])
            #expect(try titles("TERNARY(title == 'Notes', author, author) == %@", emma) == ["Novel"])
            #expect(try titles("%@ == %@", ada, emma) == [])
            #expect(try titles("%@ IN %@", ada, [emma]) == [])
            #expect(try titles("SUBQUERY(author.books, $b, $b.author == %@).@count > 0", emma) == ["Novel"])
        }
    }

    @Test("SELF is an object of one store")
    func evaluatedObject() throws {
        try context.performAndWait {
            let books = try context.all("Book", by: "title")
            #expect(try titles("SELF == %@", books[0]) == ["Notes"])
            #expect(try titles("SELF == %@", books[1]) == ["Novel"])
            #expect(try titles("SELF != %@", books[1]) == ["Notes"])
            #expect(try titles("objectID == %@", books[1].objectID) == ["Novel"])
            #expect(try titles("SELF IN %@", [books[1]]) == ["Novel"])
            #expect(try titles("self IN %@", Set(books)) == ["Notes", "Novel"])
            #expect(try titles("NOT SELF IN %@", [books[0].objectID]) == ["Novel"])
        }
    }

    @Test("An object that was never saved is found by no condition")
    func temporary() throws {
        try context.performAndWait {
            let new = context.make("Author", ["name": "New"])
            #expect(try titles("author == %@", new) == [])
            #expect(try titles("author != %@", new.objectID) == ["Notes", "Novel"])
            let ada = try author("Ada")
            #expect(try titles("author IN %@", [new, ada]) == ["Notes"])
        }
    }

    @Test("A fetch within a predicate is of objects of one store")
    func fetchExpression() throws {
        try context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["author"]
            request.predicate = NSPredicate(format: "author == %@", try author("Emma"))
            let fetch = NSFetchRequestExpression.expression(
                forFetch: CoreData.NSExpression(forConstantValue: request),
                context: CoreData.NSExpression(forConstantValue: context),
                countOnly: false)
            #expect(try titles("author IN %@", fetch) == ["Novel"])
        }
    }

    @Test("Batch requests change the rows of one store")
    func batches() throws {
        try context.performAndWait {
            let (ada, emma) = (try author("Ada"), try author("Emma"))
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.predicate = NSPredicate(format: "author == %@", emma)
            update.propertiesToUpdate = ["title": "Sequel"]
            update.resultType = .updatedObjectsCountResultType
            let updated = try context.execute(update) as? NSBatchUpdateResult
            #expect(updated?.result as? Int == 1)
            context.reset()
            #expect(try titles("TRUEPREDICATE") == ["Notes", "Sequel"])
            let doomed = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            doomed.predicate = NSPredicate(format: "author IN %@", [ada.objectID])
            let delete = NSBatchDeleteRequest(fetchRequest: doomed)
            delete.resultType = .resultTypeCount
            let deleted = try context.execute(delete) as? NSBatchDeleteResult
            #expect(deleted?.result as? Int == 1)
            context.reset()
            #expect(try titles("TRUEPREDICATE") == ["Sequel"])
        }
    }

    @Test("A fetched results controller lists the objects of one store") @MainActor func results() throws {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let emma = try #require(context.all("Author", NSPredicate(format: "name == 'Emma'")).first)
        request.predicate = NSPredicate(format: "author == %@", emma)
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.map { $0.string("title") } == ["Novel"])
    }

    @Test("IDs from before a store moved, or got another identifier, find the same objects")
    func moved() throws {
        try context.performAndWait {
            let (ada, emma) = (try author("Ada").objectID, try author("Emma").objectID)
            #expect(try titles("author == %@", emma) == ["Novel"])
            let moved = try coordinator.migratePersistentStore(stores[1], to: folder.file("c.sqlite"), type: .sqlite)
            #expect(try titles("author == %@", emma) == ["Novel"])
            #expect(try titles("author == %@", ada) == ["Notes"])
            var metadata = coordinator.metadata(for: moved)
            metadata[NSStoreUUIDKey] = UUID().uuidString
            coordinator.setMetadata(metadata, for: moved)
            try context.save()
            #expect(try titles("author == %@", emma) == ["Novel"])
            #expect(try titles("author IN %@", [ada]) == ["Notes"])
        }
    }

    @Test("An ID of another coordinator for the same file finds the same object")
    func otherCoordinator() throws {
        let other = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try other.addPersistentStore(type: .sqlite, at: folder.file("b.sqlite"))
        let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        reader.persistentStoreCoordinator = other
        let emma = try reader.performAndWait { try #require(reader.all("Author").first).objectID }
        try context.performAndWait {
            let found = try titles("author == %@", emma)
            #expect(found == ["Novel"])
        }
    }

    @Test("Stores in memory are told apart, too")
    func inMemory() throws {
        try context.performAndWait {
            for store in stores {
                try coordinator.migratePersistentStore(
                    store, to: folder.file("\(store.identifier ?? "")"), type: .inMemory)
            }
            context.reset()
            let (ada, emma) = (try author("Ada"), try author("Emma"))
            #expect(try titles("author == %@", ada) == ["Notes"])
            #expect(try titles("author == %@", emma) == ["Novel"])
            #expect(try titles("NOT author IN %@", [emma]) == ["Notes"])
        }
    }

    @Test("A fetch in one store finds what it would find if everything were saved")
    func unsavedElsewhere() throws {
        try context.performAndWait {
            try author("Emma").setValue("Emma W", forKey: "name")
            try author("Ada").setValue("Ada L", forKey: "name")
            context.assign(context.make("Author", ["name": "New"]), to: stores[1])
            context.make("Author", ["name": "Default"])
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            func names(_ affected: [NSPersistentStore]) throws -> [String] {
                request.affectedStores = affected
                let found = try context.fetch(request).compactMap { $0.string("name") }.sorted()
                #expect(try context.count(for: request) == found.count)
                return found
            }
            #expect(try names([stores[0]]) == ["Ada L", "Default"])
            #expect(try names([stores[1]]) == ["Emma W", "New"])
            #expect(try names([]) == [])
        }
    }
}
