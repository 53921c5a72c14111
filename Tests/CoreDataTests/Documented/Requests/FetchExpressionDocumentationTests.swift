import CoreData
import Testing

/// Checks from the pages of `NSFetchRequest`, `NSFetchRequestExpression`, `NSExpressionDescription` and
/// `NSAsynchronousFetchRequest`.
@MainActor @Suite("Documented: expressions and asynchronous fetches")
struct FetchExpressionDocumentationTests {
    private let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        container = try Library.inMemory()
        let context = container.viewContext
        for (title, price) in [("A", 1.0), ("B", 2), ("B", 4)] {
            context.make("Book", ["title": title, "price": price])
        }
        try context.save()
        context.reset()
    }

    // MARK: NSFetchRequest

    @Test("predicate: an AND of nothing is not a predicate")
    func emptyPredicate() throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [])
        #expect(request.predicate == nil)
        #expect(try context.fetch(request).count == 3)
    }

    @Test("entity: a request without one fails when it is executed")
    func withoutEntity() {
        #expect(throws: NSError.self) { try context.fetch(NSFetchRequest<NSManagedObject>()) }
    }

    @Test("resultType: four kinds, which can be combined with count(for:)")
    func resultTypes() throws {
        let types: [(NSFetchRequestResultType, UInt)] = [
            (.managedObjectResultType, 0), (.managedObjectIDResultType, 1), (.dictionaryResultType, 2),
            (.countResultType, 4),
        ]
        for (type, number) in types {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            request.resultType = type
            #expect(type.rawValue == number)
            #expect(try context.count(for: request) == 3)
        }
    }

    @Test("havingPredicate: it throws without propertiesToGroupBy")
    func havingWithoutGroups() {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title"]
        request.havingPredicate = NSPredicate(format: "title == 'A'")
        #expect(throws: NSError.self) { try context.fetch(request) }
    }

    @Test("propertiesToFetch: with objects as results, these have the named values, and take the others when asked")
    func partialObjects() throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.propertiesToFetch = ["title"]
        request.sortDescriptors = [NSSortDescriptor(key: "price", ascending: true)]
        #expect(try context.fetch(request).map { $0.shown("title") + $0.shown("price") } == ["A1.0", "B2.0", "B4.0"])
    }

    // MARK: NSExpressionDescription

    @Test("resultType and expressionResultType are one property of an expression that a fetch computes")
    func expressions() throws {
        let highest = NSExpressionDescription()
        highest.name = "highest"
        highest.expression = NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "price")])
        highest.resultType = .double
        #expect(highest.expressionResultType == .doubleAttributeType)
        highest.expressionResultType = .floatAttributeType
        #expect(highest.resultType == .float)
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [highest]
        #expect(try context.fetch(request).first?["highest"] as? Double == 4)
    }

    // MARK: NSFetchRequestExpression

    @Test("An expression of a fetch: its request, its context, and whether it only counts")
    func fetchExpressions() throws {
        let fetch = NSExpression(
            forConstantValue: NSFetchRequest<any NSFetchRequestResult>(entityName: "Book"))
        let place = NSExpression(forConstantValue: context)
        for countOnly in [true, false] {
            let expression = NSFetchRequestExpression.expression(forFetch: fetch, context: place, countOnly: countOnly)
            let request = try #require(expression as? NSFetchRequestExpression)
            #expect(request.requestExpression == fetch && request.contextExpression == place)
            #expect(request.isCountOnlyRequest == countOnly && request.expressionType == NSFetchRequestExpressionType)
            let value = expression.expressionValue(with: nil, context: nil)
            #expect(countOnly ? value as? Int == 3 : (value as? [NSManagedObject])?.count == 3)
        }
    }

    // MARK: Asynchronous fetches

    @Test("An asynchronous fetch: its request and block, and a result with these, the context and a progress")
    func asynchronous() async throws {
        let context = container.newBackgroundContext()
        let facts = await withCheckedContinuation { continuation in
            context.perform {
                let fetch = NSFetchRequest<NSManagedObject>(entityName: "Book")
                let request = NSAsynchronousFetchRequest(fetchRequest: fetch) {
                    (result: NSAsynchronousFetchResult<NSManagedObject>) in
                    continuation.resume(
                        returning: [
                            result.finalResult?.count == 3, result.managedObjectContext === context,
                            result.operationError == nil, result.fetchRequest.fetchRequest === fetch,
                        ])
                }
                #expect(request.fetchRequest === fetch && request.completionBlock != nil)
                #expect(request.estimatedResultCount == 0)
                request.estimatedResultCount = 3
                let progress = Progress(totalUnitCount: 1)
                progress.becomeCurrent(withPendingUnitCount: 1)
                let result = try? context.execute(request) as? NSPersistentStoreAsynchronousResult
                progress.resignCurrent()
                #expect(result?.progress != nil)
            }
        }
        #expect(facts == [true, true, true, true])
    }

    @Test("An asynchronous fetch that fails has its error as operationError, and one that is cancelled no results")
    func failing() async throws {
        let context = container.newBackgroundContext()
        let failed = await withCheckedContinuation { continuation in
            context.perform {
                let fetch = NSFetchRequest<NSManagedObject>(entityName: "Book")
                fetch.predicate = NSPredicate(format: "nothing == 1")
                let request = NSAsynchronousFetchRequest(fetchRequest: fetch) {
                    continuation.resume(returning: $0.operationError != nil && $0.finalResult?.isEmpty != false)
                }
                _ = try? context.execute(request)
            }
        }
        #expect(failed)
        let cancelled = await withCheckedContinuation { continuation in
            context.perform {
                let request = NSAsynchronousFetchRequest(
                    fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Book")
                ) { continuation.resume(returning: $0.finalResult?.isEmpty != false) }
                (try? context.execute(request) as? NSPersistentStoreAsynchronousResult)?.cancel()
            }
        }
        #expect(cancelled)
    }
}
