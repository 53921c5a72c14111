import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

@Suite("Dictionaries that PostgreSQL does not make as SQLite does", .needsPostgres)
struct DictionaryTests {
    let database: TestDatabase
    let context: NSManagedObjectContext

    init() throws {
        database = try TestDatabase()
        context = try Bookshop.container(database).viewContext
        for (number, pages) in [5, 12, 17, 31].enumerated() {
            _ = context.insert(
                "Book",
                [
                    "title": ["b", "a", "b", "c"][number], "pageCount": pages, "isInPrint": number == 1,
                    "id": UUID(uuid: (UInt8(number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
                ])
        }
        try context.save()
    }

    private func column(_ name: String, _ format: String, _ type: NSAttributeType) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        (column.name, column.expression, column.expressionResultType) = (name, NSExpression(format: format), type)
        return column
    }

    private func fetch(_ change: (NSFetchRequest<NSDictionary>) -> Void) throws -> [NSDictionary] {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        change(request)
        return try context.fetch(request)
    }

    @Test(
        "are grouped by what is computed with constants",
        arguments: ["pageCount / 10", "TERNARY(pageCount > 15, 1, 0)"])
    func groups(format: String) throws {
        let found = try fetch { request in
            let group = column("group", format, .integer64AttributeType)
            request.propertiesToFetch = [group, column("number", "count:(title)", .integer64AttributeType)]
            request.propertiesToGroupBy = ["group"]
        }
        let counts = found.map { [$0["group"] as? Int, $0["number"] as? Int] }
        #expect(Set(counts) == (format.hasPrefix("T") ? [[0, 2], [1, 2]] : [[0, 1], [1, 2], [3, 1]]))
    }

    @Test("have the greatest and the smallest UUID and Boolean")
    func extremes() throws {
        let found = try fetch { request in
            request.propertiesToFetch = [
                column("last", "max:(id)", .UUIDAttributeType), column("first", "min:(id)", .UUIDAttributeType),
                column("any", "max:(isInPrint)", .booleanAttributeType),
                column("all", "min:(isInPrint)", .booleanAttributeType),
            ]
        }
        #expect((found.first?["last"] as? UUID)?.uuid.0 == 3)
        #expect((found.first?["first"] as? UUID)?.uuid.0 == 0)
        #expect(found.first?["any"] as? Bool == true)
        #expect(found.first?["all"] as? Bool == false)
    }

    @Test("are computed in the program where the database refuses to")
    func refused() throws {
        let found = try fetch { request in
            request.propertiesToFetch = [column("share", "60 / (pageCount - 5)", .integer64AttributeType)]
            request.sortDescriptors = [NSSortDescriptor(key: "pageCount", ascending: true)]
        }
        #expect(found.map { $0["share"] as? Int } == [nil, 8, 5, 2])
        let all = try fetch { request in
            request.propertiesToFetch = [
                column("number", "sum:(isInPrint)", .integer64AttributeType),
                column("part", "average:(isInPrint)", .doubleAttributeType),
            ]
        }
        #expect(all == [["number": 1, "part": 0.25]])
    }

    @Test("fulfil, as groups, a condition that the database does not evaluate")
    func condition() throws {
        let found = try fetch { request in
            request.propertiesToFetch = ["title", column("pages", "sum:(pageCount)", .integer64AttributeType)]
            request.propertiesToGroupBy = ["title"]
            request.havingPredicate = NSPredicate(format: "title LIKE[c] 'B' AND $pages > 20")
        }
        #expect(found == [["title": "b", "pages": 22]])
    }

    @Test("are there once, in the order of what they do not show")
    func distinct() throws {
        func titles(_ limit: Int, _ offset: Int) throws -> [String] {
            try fetch { request in
                request.propertiesToFetch = ["title"]
                request.returnsDistinctResults = true
                request.sortDescriptors = [NSSortDescriptor(key: "pageCount", ascending: true)]
                (request.fetchLimit, request.fetchOffset) = (limit, offset)
            }.compactMap { $0["title"] as? String }
        }
        #expect(try titles(0, 0) == ["b", "a", "c"])
        #expect(try titles(1, 1) == ["a"])
    }

    @Test("are there once if their decimals are equal, beside a condition that the database does not evaluate")
    func distinctDecimals() throws {
        for book in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")) {
            book.setValue(NSDecimalNumber(string: "2.50"), forKey: "price")
        }
        try context.save()
        let found = try fetch { request in
            request.propertiesToFetch = ["price"]
            request.returnsDistinctResults = true
            request.predicate = NSPredicate(format: "title LIKE '?'")
        }
        #expect(found.map { $0["price"] as? NSDecimalNumber } == [NSDecimalNumber(string: "2.5")])
    }

    @Test("have the seconds between two dates")
    func seconds() throws {
        _ = context.insert("Author", ["name": "a", "born": Date(timeIntervalSinceReferenceDate: 100.5)])
        try context.save()
        let request = NSFetchRequest<NSDictionary>(entityName: "Author")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [
            column("passed", "born - CAST(0.25, 'NSDate')", .undefinedAttributeType),
            column("declared", "born - CAST(0.25, 'NSDate')", .doubleAttributeType),
        ]
        #expect(try context.fetch(request) == [["passed": 100.25, "declared": 100.25]])
    }

    @Test("Groups are in an order that the database does not have")
    func groupOrder() throws {
        _ = context.insert("Book", ["title": "C", "pageCount": 1])
        try context.save()
        func groups(_ limit: Int, _ offset: Int) throws -> [NSDictionary] {
            try fetch { request in
                request.propertiesToFetch = ["title", column("pages", "sum:(pageCount)", .integer64AttributeType)]
                request.propertiesToGroupBy = ["title"]
                request.sortDescriptors = [
                    NSSortDescriptor(
                        key: "title", ascending: true, selector: Selector("caseInsensitiveCompare:")),
                    NSSortDescriptor(key: "title", ascending: false),
                ]
                (request.fetchLimit, request.fetchOffset) = (limit, offset)
            }
        }
        let all = try groups(0, 0)
        #expect(all.map { $0["title"] as? String } == ["a", "b", "c", "C"])
        #expect(all.map { $0["pages"] as? Int } == [12, 22, 31, 1])
        #expect(all.allSatisfy { $0.count == 2 })
        #expect(try groups(2, 1).map { $0["title"] as? String } == ["b", "c"])
    }

    @Test("begin with the first where the offset is negative")
    func offset() throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "title LIKE '?'")
        request.fetchOffset = -1
        #expect(try context.fetch(request).count == 4)
        #expect(try context.count(for: request) == 4)
    }
}
