import CoreDataPostgres
import Foundation
import PostgresConnection
import PostgresServer
import Testing

@Suite("Managed objects in PostgreSQL", .needsPostgres)
struct ManagedObjectTests {
    let database: TestDatabase
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        database = try TestDatabase()
        container = try Bookshop.container(database)
    }

    /// Two contexts that know nothing of each other.
    private func strangers() throws -> (NSManagedObjectContext, NSManagedObjectContext) {
        (context, try Bookshop.container(database).viewContext)
    }

    @Test("lie in tables that people can read")
    func tables() throws {
        let id = UUID()
        let author = context.insert("Author", ["name": "Ada"])
        let book = context.insert(
            "Book",
            [
                "title": "Notes", "isbn": "1", "price": NSDecimalNumber(string: "12.50"), "isInPrint": true,
                "coverImage": Data([1, 2]), "id": id, "pageCount": 65, "author": author,
            ])
        book.setValue(NSSet(array: [context.insert("Tag", ["name": "old"])]), forKey: "tags")
        try context.save()
        #expect(
            try database.rows(
                "SELECT b.title, b.price, b.is_in_print::text, b.id, b.page_count, encode(b.cover_image, 'hex') AS cover, a.name "
                    + "FROM book b JOIN author a ON a._id = b.author_id")
                == [["Notes", "12.5", "true", id.uuidString.lowercased(), "65", "0102", "Ada"]])
        #expect(
            try database.rows(
                "SELECT t.name FROM book_tags j JOIN tag t ON t._id = j.tag_id JOIN book b ON b._id = j.book_id")
                == [["old"]])
    }

    @Test("are what they were when they are fetched by another program")
    func fetching() throws {
        let born = Date(timeIntervalSinceReferenceDate: -5_862_067_200)
        let author = context.insert("Author", ["name": "Ada", "born": born])
        for number in 1...3 { _ = context.insert("Book", ["title": "Notes \(number)", "author": author]) }
        try context.save()
        let (_, other) = try strangers()
        let found = try #require(try other.fetch("Author", "ANY books.title == 'Notes 2'").first)
        #expect(found.value(forKey: "name") as? String == "Ada")
        #expect(found.value(forKey: "born") as? Date == born)
        #expect((found.value(forKey: "books") as? Set<NSManagedObject>)?.count == 3)
        #expect(found.objectID.uriRepresentation() == author.objectID.uriRepresentation())
    }

    @Test("have the dates that the database keeps once they are saved")
    func roundedDates() throws {
        let author = context.insert("Author", ["born": Date(timeIntervalSinceReferenceDate: 800_000_000.123_456_7)])
        try context.save()
        let kept = try #require(author.value(forKey: "born") as? Date)
        let (_, other) = try strangers()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.predicate = NSPredicate(format: "born == %@", kept as NSDate)
        let found = try other.fetch(request)
        #expect(found.count == 1)
        #expect(found.first?.value(forKey: "born") as? Date == kept)
    }

    @Test("are in conflict when another program has saved them meanwhile")
    func conflicts() throws {
        let author = context.insert("Author", ["name": "Ada"])
        try context.save()
        let (_, other) = try strangers()
        let same = try #require(try other.fetch("Author").first)
        same.setValue("Augusta", forKey: "name")
        try other.save()
        author.setValue("Countess", forKey: "name")
        let error = #expect(throws: (any Error).self) { try context.save() }
        #expect((error as? NSError)?.code == NSManagedObjectMergeError)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(try database.rows("SELECT name, _version FROM author") == [["Countess", "3"]])
    }

    @Test("keep unique values unique, as the merge policy says")
    func uniqueness() throws {
        _ = context.insert("Book", ["isbn": "1", "title": "Notes"])
        try context.save()
        let (_, other) = try strangers()
        _ = other.insert("Book", ["isbn": "1", "title": "More notes"])
        let error = #expect(throws: (any Error).self) { try other.save() }
        #expect((error as? NSError)?.code == NSManagedObjectConstraintMergeError)
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try other.save()
        #expect(try database.rows("SELECT isbn, title FROM book") == [["1", "More notes"]])
    }

    @Test("go with what their delete rules take along")
    func deleteRules() throws {
        let author = context.insert("Author", ["name": "Ada"])
        let book = context.insert("Book", ["title": "Notes", "author": author])
        book.setValue(NSSet(array: [context.insert("Tag", ["name": "old"])]), forKey: "tags")
        try context.save()
        context.delete(author)
        try context.save()
        #expect(
            try database.rows(
                "SELECT (SELECT count(*) FROM author) a, (SELECT count(*) FROM book) b, "
                    + "(SELECT count(*) FROM book_tags) j, (SELECT count(*) FROM tag) t") == [["0", "0", "0", "1"]])
    }

    @Test("cannot lead to what another program has deleted")
    func references() throws {
        let author = context.insert("Author", ["name": "Ada"])
        try context.save()
        let (_, other) = try strangers()
        other.delete(try #require(try other.fetch("Author").first))
        try other.save()
        _ = context.insert("Book", ["title": "Notes", "author": author])
        #expect(throws: (any Error).self) { try context.save() }
        #expect(try database.rows("SELECT count(*) FROM book") == [["0"]])
    }

    @Test("name the property whose text PostgreSQL does not keep")
    func zeroCharacters() throws {
        _ = context.insert("Author", ["name": "A\u{0}da"])
        let error = #expect(throws: (any Error).self) { try context.save() }
        #expect((error as? NSError)?.localizedDescription.contains("Author.name") == true)
    }

    @Test("are changed in batches by statements of the database")
    func batches() throws {
        let insertion = NSBatchInsertRequest(
            entityName: "Book", objects: (1...500).map { ["title": "Book \($0)", "pageCount": $0] })
        try context.execute(insertion)
        let update = NSBatchUpdateRequest(entityName: "Book")
        update.predicate = NSPredicate(format: "pageCount > 400")
        update.propertiesToUpdate = ["isInPrint": true, "title": NSExpression(format: "uppercase(title)")]
        update.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 100)
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        request.predicate = NSPredicate(format: "title BEGINSWITH 'Book'")
        let deletion = NSBatchDeleteRequest(fetchRequest: request)
        deletion.resultType = .resultTypeCount
        #expect((try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 400)
        #expect(
            try database.rows("SELECT count(*), min(title), bool_and(is_in_print)::text AS p FROM book") == [
                ["100", "BOOK 401", "true"]
            ])
    }
}
