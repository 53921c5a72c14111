import CoreData
import Foundation
import Testing
import SQLGeneration

@Suite("A batch update changes rows without objects")
struct BatchUpdateTests {
    private func filled() throws -> BatchStore {
        let store = try BatchStore()
        try store.save { context in
            let author = context.make("Author", ["name": "Ann"])
            context.make("Book", ["title": "A", "price": 10.0, "author": author])
            context.make("Book", ["title": "B", "price": 20.0])
            context.make("Comic", ["title": "C", "price": 30.0])
        }
        return store
    }

    private let titles = "SELECT ZTITLE, ZPRICE, Z_OPT FROM ZBOOK ORDER BY ZTITLE"

    @Test("Values by name or description are set where the predicate holds, and the versions grow")
    func constants() throws {
        let store = try filled()
        let request = NSBatchUpdateRequest(entityName: "Book")
        let isbn = try #require(store.container.managedObjectModel.entitiesByName["Book"]?.propertiesByName["isbn"])
        request.propertiesToUpdate = ["price": 5, isbn: NSExpression(forConstantValue: "x")]
        request.predicate = NSPredicate(format: "price >= 20")
        request.resultType = .updatedObjectsCountResultType
        #expect(try store.execute(request, NSBatchUpdateResult.self).result as? Int == 2)
        #expect(try store.rows(titles) == ["A|10.0|1", "B|5.0|2", "C|5.0|2"])
        #expect(try store.rows("SELECT ZISBN FROM ZBOOK ORDER BY ZTITLE") == ["", "x", "x"])
    }

    @Test("An expression is computed from the row's own values")
    func expression() throws {
        let store = try filled()
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.propertiesToUpdate = ["price": NSExpression(format: "price * 2")]
        #expect(try store.execute(request, NSBatchUpdateResult.self).result as? Bool == true)
        #expect(try store.rows(titles) == ["A|20.0|2", "B|40.0|2", "C|60.0|2"])
    }

    @Test("An expression and a predicate may go through to-one relationships")
    func joined() throws {
        let store = try filled()
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.predicate = NSPredicate(format: "author.name == 'Ann'")
        request.propertiesToUpdate = ["title": NSExpression(format: "author.name")]
        _ = try store.execute(request)
        #expect(try store.rows("SELECT ZTITLE FROM ZBOOK ORDER BY Z_PK").sorted() == ["Ann", "B", "C"])
    }

    @Test(
        "Values that are computed of other rows are those before the update",
        arguments: [NSBatchUpdateRequestResultType.updatedObjectsCountResultType, .updatedObjectIDsResultType])
    func otherRows(result: NSBatchUpdateRequestResultType) throws {
        let store = try BatchStore()
        try store.save { context in
            let author = context.make("Author", ["name": "Ann"])
            for (title, price) in [("A", 10.0), ("B", 20.0)] {
                context.make("Book", ["title": title, "price": price, "author": author])
            }
            context.make("Book", ["title": "C", "price": 30.0])
        }
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.resultType = result
        request.propertiesToUpdate = [
            "price": NSExpression(format: "author.books.@sum.price"), "isbn": NSExpression(format: "uppercase:('x')"),
        ]
        _ = try store.execute(request)
        let context = store.container.newBackgroundContext()
        try context.performAndWait {
            let books = try context.all("Book", by: "title")
            #expect(books.map { $0.value(forKey: "price") as? Double } == [30, 30, 0])
        }
    }

    @Test("Without subentities only the entity's own rows change")
    func subentities() throws {
        let store = try filled()
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.includesSubentities = false
        request.propertiesToUpdate = ["price": NSNull()]
        request.resultType = .updatedObjectIDsResultType
        let result = try store.execute(request, NSBatchUpdateResult.self)
        let identifiers = try #require(result.result as? [NSManagedObjectID])
        #expect(identifiers.map { $0.entity.name } == ["Book", "Book"])
        #expect(try store.rows(titles) == ["A||2", "B||2", "C|30.0|1"])
    }

    @Test("A to-one relationship takes an object or its ID")
    func relationship() throws {
        let store = try filled()
        let request = NSBatchUpdateRequest(entityName: "Book")
        try store.context.performAndWait {
            let author = try #require(try store.context.all("Author").first)
            request.propertiesToUpdate = ["author": author.objectID]
            _ = try store.context.execute(request)
        }
        #expect(try store.rows("SELECT COUNT(*) FROM ZBOOK WHERE ZAUTHOR = 1") == ["3"])
        request.propertiesToUpdate = ["author": NSNull()]
        _ = try store.execute(request)
        #expect(try store.rows("SELECT COUNT(*) FROM ZBOOK WHERE ZAUTHOR IS NULL") == ["3"])
    }

    @Test("What was fetched before shows the new values once the object is refreshed")
    func refresh() throws {
        let store = try filled()
        try store.context.performAndWait {
            let book = try #require(try store.context.all("Book", NSPredicate(format: "title == 'A'")).first)
            #expect(book.value(forKey: "price") as? Double == 10)
            let request = NSBatchUpdateRequest(entityName: "Book")
            request.propertiesToUpdate = ["price": 1.5]
            request.resultType = .updatedObjectIDsResultType
            let result = try store.context.execute(request) as? NSBatchUpdateResult
            let identifiers = try #require(result?.result as? [NSManagedObjectID])
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: identifiers], into: [store.context])
            #expect(book.value(forKey: "price") as? Double == 1.5)
        }
    }

    @Test("Unknown, transient and to-many properties are refused by name")
    func refusals() throws {
        let store = try filled()
        for name in ["nothing", "tags"] {
            let request = NSBatchUpdateRequest(entityName: "Book")
            request.propertiesToUpdate = [name: "x"]
            let error = #expect(throws: NSError.self) { _ = try store.execute(request) }
            #expect(error?.localizedDescription.contains(name) == true)
        }
    }

    @Test("An update that would make two rows share a unique value fails, and changes nothing")
    func unique() throws {
        let store = try BatchStore(BatchStore.uniqueModel())
        _ = try store.execute(NSBatchInsertRequest(entityName: "Item", objects: [["code": "a"], ["code": "b"]]))
        let request = NSBatchUpdateRequest(entityName: "Item")
        request.propertiesToUpdate = ["code": "c"]
        let error = #expect(throws: NSError.self) { _ = try store.execute(request) }
        #expect(error?.code == 133021)
        #expect(error?.localizedDescription.contains("two objects of “Item” with the same code") == true)
        #expect(try store.rows("SELECT ZCODE FROM ZITEM ORDER BY ZCODE") == ["a", "b"])
    }

    @Test("A number that does not fit in one row of many is named, and no row changes", arguments: [false, true])
    func oneThatDoesNotFit(keepsHistory: Bool) throws {
        let options = keepsHistory ? [NSPersistentHistoryTrackingKey: true as NSNumber] : [:]
        let store = try BatchStore(BatchStore.uniqueModel(), options: options)
        let rows = [1, Int64.max, 3].enumerated().map { ["code": "\($0)", "stars": $1] as [String: Any] }
        _ = try store.execute(NSBatchInsertRequest(entityName: "Item", objects: rows))
        let request = NSBatchUpdateRequest(entityName: "Item")
        request.resultType = .updatedObjectsCountResultType
        request.propertiesToUpdate = ["stars": NSExpression(format: "stars + 1")]
        let error = #expect(throws: NSError.self) { _ = try store.execute(request) }
        #expect(error?.localizedDescription.contains("“Item.stars” would become 9.22337203685478e+18") == true)
        #expect(try store.rows("SELECT ZSTARS, Z_OPT FROM ZITEM ORDER BY ZCODE") == ["1|1", "\(Int64.max)|1", "3|1"])
        request.propertiesToUpdate = ["stars": NSExpression(format: "stars - 1")]
        #expect(try store.execute(request, NSBatchUpdateResult.self).result as? Int == 3)
        #expect(
            try store.rows("SELECT ZSTARS, Z_OPT FROM ZITEM ORDER BY ZCODE") == ["0|2", "\(Int64.max - 1)|2", "2|2"])
        // A number that is missing stays so.
        request.predicate = NSPredicate(format: "code == '0'")
        request.propertiesToUpdate = ["stars": NSNull()]
        _ = try store.execute(request)
        request.predicate = nil
        request.propertiesToUpdate = ["stars": NSExpression(format: "stars - 1")]
        #expect(try store.execute(request, NSBatchUpdateResult.self).result as? Int == 3)
        #expect(try store.rows("SELECT ZSTARS FROM ZITEM WHERE ZCODE IN ('0', '2') ORDER BY ZCODE") == ["", "1"])
    }
}
