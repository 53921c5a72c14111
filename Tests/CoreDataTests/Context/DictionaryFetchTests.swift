import CoreData
import TestSupport
import Testing
import SQLGeneration

private typealias NSExpression = CoreData.NSExpression

@MainActor @Suite("A dictionary fetch")
struct DictionaryFetchTests {
    private let context: NSManagedObjectContext

    init() throws {
        context = try Library.inMemory().viewContext
        let austen = context.make("Author", ["name": "Austen", "age": 41])
        let banks = context.make("Author", ["name": "Banks", "age": 59])
        for (title, price, author) in [("Emma", 7.0, austen), ("Persuasion", 9.0, austen), ("Matter", 11.0, banks)] {
            context.make("Book", ["title": title, "price": price, "author": author])
        }
        context.make("Comic", ["title": "Maus", "price": 9.0])
        try context.save()
    }

    private func column(_ name: String, _ format: String, _ type: NSAttributeType) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(format: format)
        description.expressionResultType = type
        return description
    }

    private func fetch(_ columns: [Any], _ adjust: (NSFetchRequest<NSDictionary>) -> Void = { _ in }) throws
        -> [[String: AnyHashable]]
    {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = columns
        adjust(request)
        return try context.fetch(request).map { $0 as? [String: AnyHashable] ?? [:] }
    }

    @Test("computes values of all rows")
    func aggregates() throws {
        let rows = try fetch([
            column("count", "count:(title)", .integer64AttributeType),
            column("total", "sum:(price)", .doubleAttributeType),
            column("mean", "average:(price)", .doubleAttributeType),
            column("least", "min:(price)", .doubleAttributeType),
            column("last", "max:(title)", .stringAttributeType),
        ])
        #expect(rows.count == 1)
        #expect(rows[0]["count"] as? Int == 4)
        #expect(rows[0]["total"] as? Double == 36)
        #expect(rows[0]["mean"] as? Double == 9)
        #expect(rows[0]["least"] as? Double == 7)
        #expect(rows[0]["last"] as? String == "Persuasion")
    }

    @Test("groups rows, by a key path or by a computed column, and restricts the groups")
    func groups() throws {
        let total = column("total", "sum:(price)", .doubleAttributeType)
        let byAuthor = try fetch(["author.name", total]) {
            $0.propertiesToGroupBy = ["author.name"]
            $0.havingPredicate = NSPredicate(format: "count:(title) > 1")
        }
        #expect(byAuthor.map { $0["author.name"] as? String } == ["Austen"])
        #expect(byAuthor.map { $0["total"] as? Double } == [16])
        let length = column("length", "length:(title)", .integer32AttributeType)
        let byLength = try fetch([length, total]) {
            $0.propertiesToGroupBy = [length]
            $0.predicate = NSPredicate(format: "price < 10")
        }
        let sums = byLength.compactMap { row in (row["length"] as? Int).map { "\($0): \(row["total"] as? Double ?? 0)" }
        }
        #expect(sums.sorted() == ["10: 9.0", "4: 16.0"])
    }

    @Test("groups by a computed column that it does not fetch")
    func unfetchedGroups() throws {
        let length = column("length", "length:(title)", .integer32AttributeType)
        let rows = try fetch([column("total", "sum:(price)", .doubleAttributeType)]) {
            $0.propertiesToGroupBy = [length]
            $0.havingPredicate = NSPredicate(format: "length > 4")
        }
        #expect(rows.map { $0["total"] as? Double }.sorted { $0 ?? 0 < $1 ?? 0 } == [9, 11])
        #expect(rows.allSatisfy { $0["length"] == nil })
    }

    @Test("refuses a value of which a group has several, by its name")
    func severalValues() throws {
        let total = column("total", "sum:(price)", .doubleAttributeType)
        let itself = column("book", "SELF", .objectIDAttributeType)
        let half = column("half", "price / 2", .doubleAttributeType)
        for (column, name) in [("title" as Any, "title"), (itself, "book"), (half, "half")] {
            let error = #expect(throws: CocoaError.self) {
                try fetch([column, total]) { $0.propertiesToGroupBy = ["author.name"] }
            }
            #expect(error?.localizedDescription.contains("“\(name)” of entity “Book”") == true)
        }
    }

    @Test("restricts groups where there are some only")
    func conditionWithoutGroups() {
        let error = #expect(throws: CocoaError.self) {
            try fetch(["title"]) { $0.havingPredicate = NSPredicate(format: "count:(title) > 1") }
        }
        #expect(error?.localizedDescription.contains("propertiesToGroupBy") == true)
    }

    @Test("is needed for groups and for computed columns: a fetch of objects, or of their IDs, refuses them")
    func forDictionariesOnly() {
        let total = column("total", "sum:(price)", .doubleAttributeType)
        for type in [NSFetchRequestResultType(), .managedObjectIDResultType] {
            let grouped = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            grouped.resultType = type
            grouped.propertiesToGroupBy = ["title"]
            #expect(throws: CocoaError.self) { _ = try context.fetch(grouped) }
            let computed = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            computed.resultType = type
            computed.propertiesToFetch = [total]
            let error = #expect(throws: CocoaError.self) { _ = try context.fetch(computed) }
            #expect(error?.localizedDescription.contains("“total”") == true)
        }
    }

    @Test(
        "sums up nothing to 0, and has no greatest of it, in every kind of store",
        arguments: [NSInMemoryStoreType, NSXMLStoreType])
    func sumOfNothing(type: String) throws {
        let folder = try TestFolder()
        let description = NSPersistentStoreDescription(url: folder.file("library"))
        description.type = type
        let context = try Library.container(Library.model(), description).viewContext
        context.make("Book", ["title": "Emma"])
        try context.save()
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [
            column("total", "sum:(price)", .doubleAttributeType), column("most", "max:(price)", .doubleAttributeType),
        ]
        #expect(try context.fetch(request) == [["total": 0.0]])
        request.predicate = NSPredicate(format: "title == 'Persuasion'")
        #expect(try context.fetch(request) == [["total": 0.0]])
        request.predicate = nil
        request.propertiesToFetch = ["title", column("total", "sum:(price)", .doubleAttributeType)]
        request.propertiesToGroupBy = ["title"]
        #expect(try context.fetch(request) == [["title": "Emma", "total": 0.0]])
    }

    /// Two books of one title, and one of another, in a store of a type.
    private func books(in folder: TestFolder, _ type: String) throws -> NSManagedObjectContext {
        let description = NSPersistentStoreDescription(url: folder.file("library"))
        description.type = type
        let context = try Library.container(Library.model(), description).viewContext
        for (title, price) in [("Emma", 7.0), ("Emma", 9.0), ("Matter", 11.0)] {
            context.make("Book", ["title": title, "price": price])
        }
        try context.save()
        return context
    }

    @Test(
        "names a computed column as a variable or a key where groups are restricted, in every kind of store",
        arguments: [NSInMemoryStoreType, NSXMLStoreType])
    func variables(type: String) throws {
        let folder = try TestFolder()
        let context = try books(in: folder, type)
        let number = column("number", "count:(price)", .integer64AttributeType)
        func titles(_ having: NSPredicate) throws -> [String?] {
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["title", number]
            request.propertiesToGroupBy = ["title"]
            request.havingPredicate = having
            return try context.fetch(request).map { $0["title"] as? String }
        }
        #expect(try titles(NSPredicate(format: "%@ > 1", NSExpression(forVariable: "number"))) == ["Emma"])
        #expect(try titles(NSPredicate(format: "$number == 1")) == ["Matter"])
        #expect(try titles(NSPredicate(format: "number > 1 AND sum:(price) > 12")) == ["Emma"])
        #expect(try titles(NSPredicate(format: "title == 'Matter'")) == ["Matter"])
    }

    @Test(
        "computes a key path that begins with an operator over all rows or a group, in every kind of store",
        arguments: [NSInMemoryStoreType, NSXMLStoreType])
    func operators(type: String) throws {
        let folder = try TestFolder()
        let context = try books(in: folder, type)
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch =
            ["@sum", "@avg", "@min", "@max"].map {
                column(String($0.dropFirst()), $0 + ".price", .doubleAttributeType)
            } + [column("count", "@count", .integer64AttributeType)]
        #expect(try context.fetch(request) == [["sum": 27.0, "avg": 9.0, "min": 7.0, "max": 11.0, "count": 3]])
        request.propertiesToFetch = ["title", column("total", "@sum.price", .doubleAttributeType)]
        request.propertiesToGroupBy = ["title"]
        request.havingPredicate = NSPredicate(format: "@sum.price > 12")
        #expect(try context.fetch(request) == [["title": "Emma", "total": 16.0]])
    }

    @Test(
        "gives each object's values with the totals of all beside them, in every kind of store",
        arguments: [NSInMemoryStoreType, NSXMLStoreType])
    func totals(type: String) throws {
        let folder = try TestFolder()
        let context = try books(in: folder, type)
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [
            "title", column("total", "sum:(price)", .doubleAttributeType),
            column("twice", "price * 2", .doubleAttributeType), column("most", "@max.price", .doubleAttributeType),
        ]
        request.sortDescriptors = [NSSortDescriptor(key: "price", ascending: false)]
        let first: NSDictionary = ["title": "Matter", "total": 27.0, "twice": 22.0, "most": 11.0]
        let second: NSDictionary = ["title": "Emma", "total": 27.0, "twice": 18.0, "most": 11.0]
        let third: NSDictionary = ["title": "Emma", "total": 27.0, "twice": 14.0, "most": 11.0]
        #expect(try context.fetch(request) == [first, second, third])
        #expect(try context.count(for: request) == 3)
        request.fetchLimit = 1
        #expect(try context.fetch(request) == [first])
        request.predicate = NSPredicate(format: "title == 'Emma'")
        #expect(try context.fetch(request) == [["title": "Emma", "total": 16.0, "twice": 18.0, "most": 9.0]])
        request.predicate = NSPredicate(format: "title == 'Persuasion'")
        #expect(try context.fetch(request).isEmpty)
    }

    @Test("covers several stores in one order, within one limit, with each distinct result once where that is asked")
    func severalStores() throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        container.persistentStoreDescriptions = (0..<2).map { _ in
            let description = NSPersistentStoreDescription()
            description.type = NSInMemoryStoreType
            return description
        }
        container.loadPersistentStores { #expect($1 == nil) }
        let context = container.viewContext
        let stores = container.persistentStoreCoordinator.persistentStores
        for (place, title) in ["Emma", "Persuasion", "Matter", "Emma", "Inversions"].enumerated() {
            let book = context.make("Book", ["title": title, "price": Double(place)])
            context.assign(book, to: stores[place % 2])
        }
        try context.save()
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title"]
        request.sortDescriptors = [NSSortDescriptor(key: "price", ascending: false)]
        request.fetchLimit = 3
        request.fetchOffset = 1
        #expect(try context.fetch(request) == [["title": "Emma"], ["title": "Matter"], ["title": "Persuasion"]])
        request.propertiesToFetch = ["title", column("total", "sum:(price)", .doubleAttributeType)]
        let (emma, matter): (NSDictionary, NSDictionary) = (
            ["title": "Emma", "total": 4.0], ["title": "Matter", "total": 6.0]
        )
        #expect(try context.fetch(request) == [emma, matter, ["title": "Persuasion", "total": 4.0]])
        request.propertiesToFetch = ["title"]
        request.fetchLimit = .max
        #expect(try context.fetch(request).count == 4)
        request.returnsDistinctResults = true
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        request.fetchLimit = 2
        #expect(try context.fetch(request) == [["title": "Inversions"], ["title": "Matter"]])
    }

    @Test("gives equal results once where only distinct ones are wanted, sorted and limited")
    func distinct() throws {
        let prices = try fetch(["price"]) {
            $0.returnsDistinctResults = true
            $0.sortDescriptors = [NSSortDescriptor(key: "price", ascending: false)]
            $0.fetchLimit = 2
        }
        #expect(prices.map { $0["price"] as? Double } == [11, 9])
    }

    @Test("leaves out what is nil, and gives objects by their IDs")
    func relationships() throws {
        let rows = try fetch(["title", "author"]) { $0.predicate = NSPredicate(format: "title IN {'Maus', 'Matter'}") }
        let maus = try #require(rows.first { $0["title"] as? String == "Maus" })
        #expect(maus.keys.sorted() == ["title"])
        let matter = try #require(rows.first { $0["title"] as? String == "Matter" })
        let author = try #require(matter["author"] as? NSManagedObjectID)
        #expect(context.object(with: author).string("name") == "Banks")
        let selves = try fetch([column("self", "SELF", .objectIDAttributeType)])
        #expect(selves.allSatisfy { $0["self"] is NSManagedObjectID })
    }

    @Test("computes with strings, dates and conditions")
    func expressions() throws {
        let rows = try fetch([
            column("shout", "uppercase:(title)", .stringAttributeType),
            column("band", "TERNARY(price > 8, 'dear', 'cheap')", .stringAttributeType),
            column("double", "price * 2", .doubleAttributeType),
        ]) { $0.predicate = NSPredicate(format: "title == 'Emma'") }
        #expect(rows.map { $0["shout"] as? String } == ["EMMA"])
        #expect(rows.map { $0["band"] as? String } == ["cheap"])
        #expect(rows.map { $0["double"] as? Double } == [14])
    }

    @Test("is refused by name for an unknown property, or a function that no store has")
    func refusals() throws {
        let unknown = #expect(throws: NSError.self) { try fetch(["colour"]) }
        #expect(unknown?.localizedDescription.contains("“colour”") == true)
        let median = #expect(throws: NSError.self) { try fetch([column("m", "median:(price)", .doubleAttributeType)]) }
        #expect(median?.localizedDescription.contains("median:") == true)
    }
}
