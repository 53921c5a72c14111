import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

private typealias NSExpression = CoreData.NSExpression

@MainActor @Suite("A fetch within a predicate")
struct FetchExpressionTests {
    private let schema: SQLSchema

    init() throws { schema = try shop() }

    private func sql(_ predicate: NSPredicate) throws -> (text: String, values: [SQLValue], isReusable: Bool) {
        let prepared = try preparedPredicate(of: predicate)
        let entity = try #require(schema.layout.entityByName["Product"])
        let fetch = try FetchSQL(schema: schema).statement(
            FetchPlan(entity: entity), result: .identifiers, predicate: prepared.skeleton,
            arguments: prepared.arguments)
        let values = try fetch.sql.sqlite.values(BindingContext(arguments: prepared.arguments, limit: 99))
        return (fetch.sql.sqlite.text, values, fetch.isReusable)
    }

    private func fetch(_ request: NSFetchRequest<NSDictionary>, countOnly: Bool = false) -> NSExpression {
        NSFetchRequestExpression.expression(
            forFetch: NSExpression(forConstantValue: request), context: NSExpression(forConstantValue: nil),
            countOnly: countOnly)
    }

    private func reviews(_ property: String?, _ format: String? = nil) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Review")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = property.map { [$0] }
        request.predicate = format.map { NSPredicate(format: $0) }
        return request
    }

    @Test("is a subquery of the property that it fetches, never kept for another request")
    func property() throws {
        let request = reviews("product", "stars > 3")
        request.fetchLimit = 5
        let (text, values, isReusable) = try sql(NSPredicate(format: "SELF IN %@", fetch(request)))
        #expect(
            text == """
                SELECT t0.Z_PK, t0.Z_ENT FROM ZPRODUCT t0 WHERE t0.Z_PK IN \
                (SELECT t0.ZPRODUCT FROM ZREVIEW t0 WHERE t0.ZSTARS > ? LIMIT ?)
                """)
        #expect(values == [.integer(3), .integer(5)])
        #expect(!isReusable)
    }

    @Test("selects the objects' keys if it has no property")
    func objects() throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Category")
        request.predicate = NSPredicate(format: "name == 'a'")
        #expect(
            try sql(NSPredicate(format: "category IN %@", fetch(request))).text.hasSuffix(
                "t0.ZCATEGORY IN (SELECT t0.Z_PK FROM ZCATEGORY t0 WHERE t0.ZNAME = ?)"))
    }

    @Test("is a number if it is of a count, or of one computed value")
    func count() throws {
        #expect(
            try sql(NSPredicate(format: "stock > FETCH(%@, nil, YES)", reviews(nil))).text.hasSuffix(
                "WHERE t0.ZSTOCK > (SELECT COUNT(*) FROM ZREVIEW t0)"))
        let largest = NSExpressionDescription()
        largest.name = "largest"
        largest.expression = NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "stars")])
        let request = reviews(nil)
        request.propertiesToFetch = [largest]
        #expect(
            try sql(NSPredicate(format: "stock == %@", fetch(request))).text.hasSuffix(
                "WHERE t0.ZSTOCK IS (SELECT MAX(t0.ZSTARS) FROM ZREVIEW t0 LIMIT ?)"))
    }

    @Test("says what it is made of, and prints as FETCH")
    func parts() throws {
        let request = reviews(nil)
        let made = try #require(fetch(request, countOnly: true) as? NSFetchRequestExpression)
        #expect(made.isCountOnlyRequest)
        #expect(made.requestExpression.constantValue as? NSFetchRequest<NSDictionary> === request)
        #expect(made.contextExpression.constantValue == nil)
        #expect(made.expressionType == NSFetchRequestExpressionType)
        #expect(made.description.hasPrefix("FETCH("))
        #expect(made.description.hasSuffix(", nil, YES)"))
    }

    @Test("is refused where it is not a fetch, or one of several properties")
    func refusals() throws {
        let two = reviews("text")
        two.propertiesToFetch = ["text", "stars"]
        for (expression, reason) in [(fetch(two), "2 properties"), (fetch(NSFetchRequest(entityName: "Foo")), "“Foo”")]
        {
            let error = #expect(throws: NSError.self) { try sql(NSPredicate(format: "name IN %@", expression)) }
            #expect(error?.localizedDescription.contains(reason) == true)
        }
        #expect(throws: NSError.self) { try sql(NSPredicate(format: "name IN FETCH(3, nil, NO)")) }
    }

    @Test("finds the same in memory and in SQL")
    func agreement() throws {
        let context = try Library.inMemory().viewContext
        for (name, title) in [("Austen", "Emma"), ("Banks", "Matter"), ("Chandler", nil)] {
            let author = context.make("Author", ["name": name])
            if let title { context.make("Book", ["title": title, "author": author]) }
        }
        try context.save()
        let books = NSFetchRequest<NSDictionary>(entityName: "Book")
        books.resultType = .dictionaryResultType
        books.propertiesToFetch = ["author"]
        books.predicate = NSPredicate(format: "title BEGINSWITH 'M'")
        let expression = NSFetchRequestExpression.expression(
            forFetch: NSExpression(forConstantValue: books), context: NSExpression(forConstantValue: context),
            countOnly: false)
        let predicate = NSPredicate(format: "SELF IN %@", expression)
        #expect(try context.all("Author", predicate).map { $0.string("name") } == ["Banks"])
        let authors = try context.all("Author", by: "name")
        #expect(authors.filter { predicate.evaluate(with: $0) }.map { $0.string("name") } == ["Banks"])
        // The request is read anew each time.
        books.predicate = NSPredicate(format: "title BEGINSWITH 'E'")
        #expect(try context.all("Author", predicate).map { $0.string("name") } == ["Austen"])
        let counted = NSPredicate(format: "FETCH(%@, %@, YES) == 1", books, context)
        #expect(try context.all("Author", counted).count == 3)
        #expect(counted.evaluate(with: authors[0]))
    }

    @Test("may begin at an offset, with no limit")
    func offset() throws {
        let context = try Library.inMemory().viewContext
        for name in ["Austen", "Banks", "Chandler"] { _ = context.make("Author", ["name": name]) }
        try context.save()
        let request = NSFetchRequest<NSDictionary>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.fetchOffset = 1
        let predicate = NSPredicate(format: "SELF IN FETCH(%@, %@, NO)", request, context)
        #expect(try context.all("Author", predicate, by: "name").map { $0.string("name") } == ["Banks", "Chandler"])
    }
}
