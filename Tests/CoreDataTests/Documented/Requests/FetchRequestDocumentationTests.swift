import CoreData
import TestSupport
import Testing

/// Checks from the pages of `NSFetchRequest`, `fetch(_:)`, `count(for:)` and `NSExpressionDescription`.
@MainActor @Suite("Documented: fetch requests")
struct FetchRequestDocumentationTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        container = try Library.inMemory()
        let context = container.viewContext
        let author = context.make("Author", ["name": "Ann", "age": 30])
        context.make("Author", ["name": "Bob", "age": 40])
        context.make("Book", ["title": "A", "price": 1.0, "author": author])
        context.make("Comic", ["title": "B", "price": 2.0, "artist": "X", "author": author])
        context.make("Book", ["title": "B", "price": 3.0])
        try context.save()
        context.reset()
    }

    private func request(_ entity: String = "Book") -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: entity == "Author" ? "name" : "price", ascending: true)]
        return request
    }

    @Test("The defaults: no limit, no offset, no batches, subentities, values, pending changes and faults")
    func defaults() {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        #expect(request.fetchLimit == 0 && request.fetchOffset == 0 && request.fetchBatchSize == 0)
        #expect(request.includesSubentities && request.includesPropertyValues && request.includesPendingChanges)
        #expect(
            request.returnsObjectsAsFaults && !request.returnsDistinctResults && !request.shouldRefreshRefetchedObjects)
        #expect(request.resultType == .managedObjectResultType && request.predicate == nil)
        #expect(request.requestType == .fetchRequestType && request.affectedStores == nil)
        #expect(request.relationshipKeyPathsForPrefetching == [] && request.havingPredicate == nil)
    }

    @Test("entityName is the entity's name, also where the entity was set")
    func entityName() {
        let request = NSFetchRequest<NSManagedObject>()
        #expect(request.entityName == nil)
        request.entity = container.managedObjectModel.entitiesByName["Book"]
        #expect(request.entityName == "Book")
    }

    @Test(
        "Without a predicate all objects of the entity are found, those of subentities as well, unless they are left out"
    )
    func subentities() throws {
        let request = request()
        #expect(try context.fetch(request).count == 3)
        request.includesSubentities = false
        #expect(try context.fetch(request).count == 2 && context.count(for: request) == 2)
    }

    @Test("fetchLimit is the most that are returned, and 0 no limit; fetchOffset skips that many; count minds both")
    func limits() throws {
        let request = request()
        request.fetchLimit = 2
        #expect(try context.fetch(request).map { $0.shown("price") } == ["1.0", "2.0"])
        request.fetchOffset = 2
        #expect(try context.fetch(request).map { $0.shown("price") } == ["3.0"])
        request.fetchOffset = 9
        #expect(try context.fetch(request).isEmpty)
    }

    @Test("A limit and an offset count among unsaved objects, too")
    func limitsOfPending() throws {
        context.make("Book", ["title": "C", "price": 0.5])
        let request = request()
        request.fetchLimit = 2
        #expect(try context.fetch(request).map { $0.shown("price") } == ["0.5", "1.0"])
        request.fetchOffset = 3
        #expect(try context.fetch(request).map { $0.shown("price") } == ["3.0"])
    }

    @Test("includesPendingChanges: unsaved insertions, changes and deletions count; without it they do not")
    func pendingChanges() throws {
        context.make("Book", ["title": "New", "price": 9.0])
        let books = try context.fetch(request())
        books[0].setValue("Changed", forKey: "title")
        context.delete(books[1])
        let wanted = request()
        wanted.predicate = NSPredicate(format: "title IN {'New', 'Changed', 'B'}")
        #expect(try context.fetch(wanted).map { $0.shown("title") } == ["Changed", "B", "New"])
        wanted.includesPendingChanges = false
        #expect(try context.count(for: wanted) == 2)
    }

    @Test("Objects that are known already are given themselves: a context has one object for a row")
    func uniquing() throws {
        let first = try context.fetch(request())
        #expect(try context.fetch(request()).elementsEqual(first, by: ===))
    }

    @Test(
        "A fetch does not overwrite unsaved values; shouldRefreshRefetchedObjects refreshes the others",
        arguments: ["rows", "batches", "IDs"])
    func refetching(_ way: String) throws {
        let book = try #require(try context.fetch(request()).first)
        book.setValue("Mine", forKey: "title")
        let other = container.newBackgroundContext()
        try other.performAndWait {
            let theirs = other.object(with: book.objectID)
            theirs.setValue("Theirs", forKey: "title")
            theirs.setValue("9", forKey: "isbn")
            try other.save()
        }
        let again = request()
        #expect(try context.fetch(again).first?.shown("isbn") == "nil")
        again.shouldRefreshRefetchedObjects = true
        again.fetchBatchSize = way == "batches" ? 10 : 0
        again.includesPropertyValues = way != "IDs"
        let refreshed = try #require(try context.fetch(again).first)
        #expect(refreshed.shown("title") == "Mine" && refreshed.shown("isbn") == "9")
    }

    @Test("returnsObjectsAsFaults: true gives faults, false objects with their values")
    func faults() throws {
        let request = request()
        let faults = try context.fetch(request)
        #expect(faults.allSatisfy { $0.isFault })
        #expect(faults[0].shown("title") == "A" && !faults[0].isFault)
        context.reset()
        request.returnsObjectsAsFaults = false
        #expect(try context.fetch(request).allSatisfy { !$0.isFault })
    }

    @Test("includesPropertyValues: false finds objects without their values, which are read when asked for")
    func withoutValues() throws {
        let request = request()
        request.includesPropertyValues = false
        let books = try context.fetch(request)
        #expect(books.allSatisfy { $0.isFault } && books.map { $0.shown("title") } == ["A", "B", "B"])
    }

    @Test("relationshipKeyPathsForPrefetching: the destinations are there with the results")
    func prefetching() throws {
        let request = request()
        request.relationshipKeyPathsForPrefetching = ["author"]
        let books = try context.fetch(request)
        let author = try #require(books[0].value(forKey: "author") as? NSManagedObject)
        #expect(author.shown("name") == "Ann")
    }

    @Test("The result type of IDs, of a count and of dictionaries")
    func resultTypes() throws {
        let identifiers = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
        identifiers.resultType = .managedObjectIDResultType
        #expect(try Set(context.fetch(identifiers)) == Set(context.fetch(request()).map(\.objectID)))
        let count = NSFetchRequest<NSNumber>(entityName: "Book")
        count.resultType = .countResultType
        #expect(try context.fetch(count) == [3])
        let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Book")
        dictionaries.resultType = .dictionaryResultType
        dictionaries.propertiesToFetch = ["title"]
        #expect(try context.fetch(dictionaries).allSatisfy { $0.allKeys as? [String] == ["title"] })
    }

    @Test("returnsDistinctResults: each dictionary once")
    func distinct() throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title"]
        request.returnsDistinctResults = true
        #expect(try context.fetch(request).count == 2)
    }

    @Test("count(for:) is the number of dictionaries: of groups, of distinct ones, of values of all objects")
    func countOfDictionaries() throws {
        context.make("Book", ["title": "New"])
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title"]
        #expect(try context.count(for: request) == 3)
        request.returnsDistinctResults = true
        #expect(try context.count(for: request) == 2)
        request.fetchLimit = 1
        #expect(try context.count(for: request) == 1)
        request.fetchLimit = 0
        request.returnsDistinctResults = false
        request.propertiesToGroupBy = ["title"]
        #expect(try context.count(for: request) == 2)
        let sum = NSExpressionDescription()
        sum.name = "sum"
        sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "price")])
        request.propertiesToGroupBy = nil
        request.propertiesToFetch = [sum]
        #expect(try context.count(for: request) == 1)
    }

    @Test(
        "propertiesToFetch takes expressions, propertiesToGroupBy makes a row a group, havingPredicate chooses among them"
    )
    func grouping() throws {
        let sum = NSExpressionDescription()
        sum.name = "sum"
        sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "price")])
        sum.expressionResultType = .doubleAttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title", sum]
        request.propertiesToGroupBy = ["title"]
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        #expect(try context.fetch(request).map { $0["sum"] as? Double } == [1, 5])
        request.havingPredicate = NSPredicate(format: "sum:(price) > 2")
        #expect(try context.fetch(request).map { $0["title"] as? String } == ["B"])
    }

    @Test("A dictionary does not have unsaved changes: includesPendingChanges does not work with that result type")
    func dictionariesOfTheStore() throws {
        context.make("Book", ["title": "New"])
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title"]
        #expect(try context.fetch(request).count == 3)
    }

    @Test("Sort descriptors apply in their order")
    func sorting() throws {
        let request = request()
        request.sortDescriptors = [
            NSSortDescriptor(key: "title", ascending: false), NSSortDescriptor(key: "price", ascending: false),
        ]
        #expect(try context.fetch(request).map { $0.shown("price") } == ["3.0", "2.0", "1.0"])
    }

    @Test("fetchBatchSize: all results are there, their values come in portions")
    func batches() throws {
        let request = request()
        request.fetchBatchSize = 2
        #expect(try context.fetch(request).map { $0.shown("title") } == ["A", "B", "B"])
    }

    @Test("affectedStores: only these are searched")
    func affectedStores() throws {
        let request = request()
        request.affectedStores = container.persistentStoreCoordinator.persistentStores
        #expect(try context.count(for: request) == 3)
        request.affectedStores = []
        #expect(try context.count(for: request) == 0)
    }

    @Test("A copy of a request is independent of it")
    func copying() throws {
        let request = request()
        let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
        copy.fetchLimit = 1
        copy.predicate = NSPredicate(value: false)
        #expect(request.fetchLimit == 0 && request.predicate == nil && copy.sortDescriptors?.count == 1)
    }

    @Test("execute() on a request runs it on the context whose block is at work")
    func execute() throws {
        let count = try context.performAndWait { try request().execute().count }
        #expect(count == 3)
    }

    @Test("A fetch of an entity that the model does not have throws")
    func unknownEntity() {
        #expect(throws: NSError.self) { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Nothing")) }
    }

    @Test("An asynchronous fetch gives its result to the block, on the context's queue")
    func asynchronous() async throws {
        let context = container.newBackgroundContext()
        let found = await withCheckedContinuation { continuation in
            context.perform {
                let request = NSAsynchronousFetchRequest(
                    fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Book")
                ) {
                    continuation.resume(returning: $0.finalResult?.count)
                }
                _ = try? context.execute(request)
            }
        }
        #expect(found == 3)
    }

    @Test("An expression that is a fetch request gives its results; with its flag, their count")
    func fetchExpression() throws {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        let expression = NSFetchRequestExpression.expression(
            forFetch: NSExpression(forConstantValue: fetch), context: NSExpression(forConstantValue: context),
            countOnly: true)
        #expect(expression.expressionValue(with: nil, context: nil) as? Int == 3)
    }
}
