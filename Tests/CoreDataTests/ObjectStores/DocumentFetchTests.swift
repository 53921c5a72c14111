import CoreData
import TestSupport
import Testing

private typealias NSExpression = CoreData.NSExpression

/// XML and binary stores compute in memory what others compute in SQL.
@Suite("A fetch from an XML or binary store finds what one from SQLite finds")
struct DocumentFetchTests {
    static let types = [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType]
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func context(_ type: String) throws -> NSManagedObjectContext {
        let description = NSPersistentStoreDescription(url: folder.file("library"))
        description.type = type
        let context = try Library.container(Library.model(), description).viewContext
        let ada = context.make("Author", ["name": "Ada", "age": 36, "wealth": NSDecimalNumber(string: "2.5")])
        let emma = context.make("Author", ["name": "Emma", "age": 41, "wealth": NSDecimalNumber(string: "4.5")])
        context.make("Author", ["name": "Zoe"])
        for (title, price, author) in [("A", 7.0, ada), ("B", 9.0, emma), ("B", 11.0, ada)] {
            context.make("Book", ["title": title, "price": price, "author": author])
        }
        try context.save()
        return context
    }

    private func column(_ name: String, _ format: String, _ type: NSAttributeType) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(format: format)
        description.expressionResultType = type
        return description
    }

    private func rows(
        _ context: NSManagedObjectContext, _ entity: String, _ columns: [Any],
        _ adjust: (NSFetchRequest<NSDictionary>) -> Void = { _ in }
    ) throws -> [NSDictionary] {
        let request = NSFetchRequest<NSDictionary>(entityName: entity)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = columns
        adjust(request)
        return try context.fetch(request)
    }

    private func names(_ context: NSManagedObjectContext, _ format: String) throws -> [String] {
        try context.all("Author", NSPredicate(format: format), by: "name").compactMap { $0.string("name") }
    }

    @Test("max: and its kin in a predicate are those of all objects", arguments: types)
    func greatest(type: String) throws {
        let context = try context(type)
        #expect(try names(context, "age == max(age)") == ["Emma"])
        #expect(try names(context, "age == @min.age") == ["Ada"])
        #expect(try names(context, "count:(age) == 2 AND max(books.price) == 11") == ["Ada"])
        #expect(try names(context, "age < average(age) OR age * 2 == max(age * 2)") == ["Ada", "Emma"])
    }

    @Test("sum: takes a condition's values, and a constant once for each object", arguments: types)
    func sums(type: String) throws {
        let found = try rows(
            context(type), "Author",
            [
                column("old", "sum:(TERNARY(age > 40, 1, 0))", .integer64AttributeType),
                column("all", "sum:(1)", .integer64AttributeType),
            ])
        #expect(found == [["old": 1, "all": 3]])
    }

    @Test("What a column makes of max: and its kin is computed of a group, in the declared type", arguments: types)
    func columns(type: String) throws {
        let context = try context(type)
        let found = try rows(
            context, "Author",
            [
                column("span", "max:(age) - min:(age)", .integer64AttributeType),
                column("double", "sum:(age) * 2", .doubleAttributeType),
                column("mean", "average:(wealth)", .decimalAttributeType),
                column("number", "count:(age)", .integer16AttributeType),
                column("text", "max:(name)", .stringAttributeType),
            ])
        #expect(found == [["span": 5, "double": 154.0, "mean": 3.5, "number": 2, "text": "Zoe"]])
        #expect(found.first?["mean"] is NSDecimalNumber)
        let books = try rows(context, "Author", ["name", column("books", "count:(books)", .integer64AttributeType)]) {
            $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        }
        #expect(books.map { $0["books"] as? Int } == [2, 1, 0])
    }

    @Test("Groups are made by a computed column, and restricted by what is computed of them", arguments: types)
    func groups(type: String) throws {
        let context = try context(type)
        let title = column("small", "lowercase:(title)", .stringAttributeType)
        let total = column("total", "sum:(price)", .doubleAttributeType)
        let found = try rows(context, "Book", [title, total]) {
            $0.propertiesToGroupBy = [title]
            $0.havingPredicate = NSPredicate(format: "sum:(price) + 1 > 8 AND $total < 20.5")
        }
        #expect(found == [["small": "b", "total": 20.0]])
        // Not every database restricts groups by what their first row leads to.
        if type == NSSQLiteStoreType { return }
        let ofAda = try rows(context, "Book", [title]) {
            $0.propertiesToGroupBy = [title]
            $0.havingPredicate = NSPredicate(format: "author.name == 'Ada'")
        }
        #expect(ofAda == [["small": "a"]])
    }

    @Test("A key that there is not, or that leads to many objects, is refused by name", arguments: types)
    func refusals(type: String) throws {
        let context = try context(type)
        func message(_ columns: [Any], _ adjust: (NSFetchRequest<NSDictionary>) -> Void = { _ in }) -> String {
            do { return "\(try rows(context, "Author", columns, adjust))" } catch { return error.localizedDescription }
        }
        let unknown = "no property “colour”"
        let many = "leads to many objects"
        #expect(message(["colour"]).contains(unknown))
        #expect(message([column("c", "colour + 1", .integer64AttributeType)]).contains(unknown))
        #expect(message([column("c", "max:(colour)", .integer64AttributeType)]).contains(unknown))
        #expect(message(["books"]).contains(many))
        #expect(message(["books.title"]).contains(many))
        #expect(message(["name"]) { $0.propertiesToGroupBy = ["colour"] }.contains(unknown))
        #expect(message(["name"]) { $0.propertiesToGroupBy = ["books"] }.contains(many))
        for (format, expected) in [("colour == 1", unknown), ("max:(colour) == 1", unknown), ("$total == 1", "$total")]
        {
            let having = message(["name"]) {
                $0.propertiesToGroupBy = ["name"]
                $0.havingPredicate = NSPredicate(format: format)
            }
            #expect(having.contains(expected))
        }
        for (key, expected) in [
            ("colour", unknown), ("name.colour", unknown), ("books", many), ("books.title", many),
        ] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
            let error = #expect(throws: NSError.self) { try context.fetch(request) }
            #expect(error?.localizedDescription.contains(expected) == true)
        }
    }

    @Test("Subqueries of values, and several values where one is compared, are errors", arguments: types)
    func noObjects(type: String) throws {
        let context = try context(type)
        for format in [
            "SUBQUERY(name, $n, $n.age > 1).@count == 0",
            "SUBQUERY(books, $b, SUBQUERY($b.title, $t, $t.x == 1) != nil).@count > 0",
            "books.@distinctUnionOfObjects.title.@count > 1", "books.@unionOfObjects.title > 'a'",
        ] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.predicate = try NSPredicate(parsing: format)
            #expect(throws: NSError.self) { try context.fetch(request) }
            #expect(throws: NSError.self) { try context.count(for: request) }
        }
    }

    @Test(
        "A column that an expression names, or that is the greatest of its values, has bytes as they are",
        arguments: types)
    func bytes(type: String) throws {
        let model = Library.model()
        let photo = try #require(model.entitiesByName["Author"]?.attributesByName["photo"])
        photo.allowsExternalBinaryDataStorage = true
        let description = NSPersistentStoreDescription(url: folder.file("photos"))
        description.type = type
        let context = try Library.container(model, description).viewContext
        let (small, large) = (Data([1, 7]), Data(repeating: 9, count: 200_000))
        context.make("Author", ["name": "Ada", "photo": small])
        context.make("Author", ["name": "Emma", "photo": large])
        try context.save()
        for type in [NSAttributeType.undefinedAttributeType, .binaryDataAttributeType] {
            let found = try rows(context, "Author", ["name", column("bytes", "photo", type)])
            let bytes = found.sorted { "\($0["name"] ?? "")" < "\($1["name"] ?? "")" }.map { $0["bytes"] as? Data }
            #expect(bytes == [small, large])
            let greatest = try rows(context, "Author", ["name", column("bytes", "max:(photo)", type)]) {
                $0.propertiesToGroupBy = ["name"]
            }
            #expect(Set(greatest.compactMap { $0["bytes"] as? Data }) == [small, large])
        }
    }
}
