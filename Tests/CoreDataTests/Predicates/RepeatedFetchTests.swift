import CoreData
import PredicateFormat
import Testing

@testable import CoreData

@MainActor @Suite("A repeated fetch")
struct RepeatedFetchTests {
    private func library() throws -> (TemporaryFolder, NSManagedObjectContext, OpenStore) {
        let folder = try TemporaryFolder()
        let container = try Library.stored(at: folder.file("library.sqlite"))
        for price in 1...9 { container.viewContext.make("Book", ["title": "b\(price)", "price": Double(price)]) }
        try container.viewContext.save()
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first?.engine as? SQLiteEngine)
        return (folder, container.viewContext, try store.current())
    }

    /// The SQL that a store keeps, each with the object that holds it: SQL that is made anew is another object.
    private func kept(_ store: OpenStore) -> Set<ObjectIdentifier> {
        Set(store.fetches.values.map { ObjectIdentifier($0) })
    }

    /// Runs a fetch, and again with another argument.
    private func expectReuse(_ fetch: (NSManagedObjectContext, Double) throws -> Int) throws {
        let (folder, context, store) = try library()
        defer { withExtendedLifetime(folder) {} }
        let before = kept(store)
        let first = try fetch(context, 3)
        let after = kept(store)
        #expect(after.count == before.count + 1)
        let second = try fetch(context, 4)
        #expect(first != second)
        #expect(kept(store) == after)
    }

    @Test("does not parse its format again")
    func parsing() throws {
        let format = "price > %f AND title BEGINSWITH 'repeated'"
        let first = try preparedPredicate(of: NSPredicate(format: format, 1.0))
        let second = try preparedPredicate(of: NSPredicate(format: format, 2.0))
        // Every parsing numbers what it makes.
        #expect(first.identity != nil)
        #expect(first.identity == second.identity)
    }

    @Test("of objects does not generate its SQL again, whatever makes its predicate")
    func objects() throws {
        func count(_ context: NSManagedObjectContext, _ predicate: NSPredicate) throws -> Int {
            try context.all("Book", predicate, by: "title").count
        }
        try expectReuse { try count($0, NSPredicate(format: "price > %f", $1)) }
        try expectReuse { context, limit in
            let comparison = NSComparisonPredicate(
                leftExpression: CoreData.NSExpression(forKeyPath: "price"),
                rightExpression: CoreData.NSExpression(forConstantValue: limit), modifier: .direct, type: .lessThan)
            let named = NSPredicate(format: "title != nil")
            return try count(context, NSCompoundPredicate(andPredicateWithSubpredicates: [comparison, named]))
        }
    }

    @Test("that counts, or of dictionaries, does not either")
    func others() throws {
        try expectReuse { context, limit in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = NSPredicate(format: "price > %f", limit)
            return try context.count(for: request)
        }
        try expectReuse { context, limit in
            let highest = NSExpressionDescription()
            highest.name = "highest"
            highest.expression = CoreData.NSExpression(format: "max:(price)")
            highest.expressionResultType = .doubleAttributeType
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["title", highest]
            request.propertiesToGroupBy = ["title"]
            request.havingPredicate = NSPredicate(format: "$highest < 9")
            request.predicate = NSPredicate(format: "price > %f", limit)
            return try context.fetch(request).count
        }
    }

    @Test("of other dictionaries is another one")
    func otherDictionaries() throws {
        let (folder, context, _) = try library()
        defer { withExtendedLifetime(folder) {} }
        func titles(_ group: String, _ having: Double, distinct: Bool = false) throws -> Int {
            let count = NSExpressionDescription()
            count.name = "number"
            count.expression = CoreData.NSExpression(format: "count:(title)")
            count.expressionResultType = .integer64AttributeType
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = distinct ? ["isbn"] : [group, count]
            request.returnsDistinctResults = distinct
            if !distinct {
                request.propertiesToGroupBy = [group]
                request.havingPredicate = NSPredicate(format: "number > %f", having)
            }
            return try context.fetch(request).count
        }
        #expect(try titles("title", 0) == 9)
        #expect(try titles("title", 1) == 0)
        #expect(try titles("isbn", 0) == 1)
        #expect(try titles("", 0, distinct: true) == 1)
    }
}
