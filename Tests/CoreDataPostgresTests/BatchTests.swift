import CoreDataPostgres
import Foundation
import PostgresConnection
import PostgresServer
import Testing

/// Books with values that are computed from others, of authors who have counts, and shops.
private enum Shelves {
    static let model: NSManagedObjectModel = {
        let (author, book, shop) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (author.name, book.name, shop.name) = ("Author", "Book", "Shop")
        author.properties = [
            attribute("name", .stringAttributeType), derived("bookCount", .integer64AttributeType, "books.@count"),
        ]
        book.properties = [
            attribute("title", .stringAttributeType), attribute("mark", .stringAttributeType),
            attribute("stock", .integer64AttributeType), attribute("price", .doubleAttributeType),
            derived("plain", .stringAttributeType, "canonical:(title)"),
            derived("saved", .dateAttributeType, "now()"), derived("by", .stringAttributeType, "author.name"),
        ]
        shop.properties = [attribute("code", .stringAttributeType)]
        shop.uniquenessConstraints = [["code"]]
        let (books, writer) = (NSRelationshipDescription(), NSRelationshipDescription())
        (books.name, books.maxCount, books.destinationEntity, books.isOptional) = ("books", 0, book, true)
        (writer.name, writer.maxCount, writer.destinationEntity, writer.isOptional) = ("author", 1, author, true)
        (books.deleteRule, writer.deleteRule) = (.nullifyDeleteRule, .nullifyDeleteRule)
        author.properties.append(books)
        book.properties.append(writer)
        (books.inverseRelationship, writer.inverseRelationship) = (writer, books)
        let model = NSManagedObjectModel()
        model.entities = [author, book, shop]
        return model
    }()

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
        return attribute
    }

    private static func derived(_ name: String, _ type: NSAttributeType, _ format: String) -> NSAttributeDescription {
        let attribute = NSDerivedAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
        attribute.derivationExpression = NSExpression(format: format)
        return attribute
    }
}

@Suite("Batch requests in PostgreSQL", .needsPostgres)
struct BatchTests {
    let database: TestDatabase
    let context: NSManagedObjectContext

    init() throws {
        database = try TestDatabase()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shelves.model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(), options: nil)
        context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    private func rows(_ columns: String, _ table: String = "book ORDER BY title") throws -> [[String]] {
        try database.rows("SELECT \(columns) FROM \(table)")
    }

    private func update(_ format: String?, _ values: [String: Any]) throws {
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.propertiesToUpdate = values
        try context.execute(request)
    }

    private func delete(_ entity: String, _ format: String) throws {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        request.predicate = NSPredicate(format: format)
        try context.execute(NSBatchDeleteRequest(fetchRequest: request))
    }

    // MARK: Derived attributes

    @Test("leave the times of objects that they do not change")
    func times() throws {
        for title in ["a", "b"] { _ = context.insert("Book", ["title": title, "stock": 1]) }
        try context.save()
        let before = try rows("saved::text")
        try context.execute(NSBatchInsertRequest(entityName: "Shop", objects: [["code": "x"]]))
        #expect(try rows("saved::text") == before)
        try update("title == 'a'", ["stock": 2])
        let after = try rows("saved::text")
        #expect(after[0] != before[0])
        #expect(after[1] == before[1])
        try context.execute(NSBatchInsertRequest(entityName: "Book", objects: [["title": "c"]]))
        try delete("Book", "title == 'a'")
        #expect(try rows("saved::text").first == before[1])
        #expect(try rows("count(saved)", "book") == [["2"]])
    }

    @Test("compute what depends on the rows that they insert, change and delete")
    func derived() throws {
        let authors = ["Ada", "Bob"].map { context.insert("Author", ["name": $0]) }
        for (title, author) in [("É", 0), ("Ü", 0), ("Ö", 1)] {
            _ = context.insert("Book", ["title": title, "author": authors[author]])
        }
        try context.save()
        func counts() throws -> [[String]] { try rows("name, book_count", "author ORDER BY name") }
        try update("title == 'Ü'", ["author": authors[1].objectID, "title": "Å"])
        #expect(try counts() == [["Ada", "1"], ["Bob", "2"]])
        #expect(try rows("plain, \"by\"", "book ORDER BY 1") == [["a", "Bob"], ["e", "Ada"], ["o", "Bob"]])
        try context.execute(NSBatchInsertRequest(entityName: "Book", objects: [["title": "Û"]]))
        #expect(try rows("plain", "book WHERE author_id IS NULL") == [["u"]])
        try delete("Book", "title == 'Ö'")
        #expect(try counts() == [["Ada", "1"], ["Bob", "1"]])
        let before = try rows("saved::text", "book WHERE plain = 'e'")
        try delete("Author", "name == 'Ada'")
        #expect(try rows("plain", "book WHERE \"by\" IS NULL ORDER BY 1") == [["e"], ["u"]])
        #expect(try rows("saved::text", "book WHERE plain = 'e'") != before)
    }

    // MARK: Triggers of others

    @Test("say so where a trigger leaves out rows, and change nothing")
    func swallowedRows() throws {
        for code in ["a", "b"] { _ = context.insert("Shop", ["code": code]) }
        for title in ["a", "b"] { _ = context.insert("Book", ["title": title]) }
        try context.save()
        try database.connect().execute(
            """
            CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
            CREATE TRIGGER leave BEFORE INSERT OR UPDATE OR DELETE ON book FOR EACH ROW EXECUTE FUNCTION leave();
            CREATE TRIGGER leave BEFORE INSERT ON shop FOR EACH ROW EXECUTE FUNCTION leave()
            """)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        func insert(_ entity: String, _ values: [String: Any]) throws {
            try context.execute(NSBatchInsertRequest(entityName: entity, objects: [values]))
        }
        let refused: [() throws -> Void] = [
            { try insert("Book", ["title": "c"]) }, { try insert("Shop", ["code": "c"]) },
            { try update("title == 'a'", ["stock": 2]) }, { try delete("Book", "title == 'a'") },
        ]
        for request in refused {
            let error = #expect(throws: NSError.self) { try request() }
            #expect(error?.localizedDescription.contains("leaves out a row") == true)
        }
        #expect(try rows("title, stock") == [["a", "null"], ["b", "null"]])
        #expect(try rows("code", "shop ORDER BY 1") == [["a"], ["b"]])
    }

    // MARK: Computed values

    @Test(
        "write what memory computes where the database computes otherwise",
        arguments: [
            ("TERNARY(title LIKE 'A*', 'yes', 'no')", ["yes", "no", "no"]),
            ("TERNARY(title CONTAINS[c] 'abc', 'yes', 'no')", ["yes", "yes", "no"]),
            ("TERNARY(title MATCHES '[a-z]+', 'yes', 'no')", ["no", "yes", "no"]),
            ("canonical:(title)", ["abc", "xabcx", "zu"]),
        ])
    func inexact(format: String, expected: [String]) throws {
        for title in ["Abc", "xabcx", "zÜ"] { _ = context.insert("Book", ["title": title, "mark": title]) }
        try context.save()
        try update(nil, ["mark": NSExpression(format: format), "stock": 7])
        #expect(try rows("mark", "book ORDER BY title COLLATE \"C\"").map { $0[0] } == expected)
        #expect(try rows("DISTINCT stock, _version", "book") == [["7", "2"]])
    }

    @Test("give null for a division by zero, as in memory")
    func division() throws {
        _ = context.insert("Book", ["title": "a", "stock": 6])
        _ = context.insert("Book", ["title": "b", "stock": 0])
        try context.save()
        try update(nil, ["price": NSExpression(format: "12 / stock")])
        #expect(try rows("price") == [["2"], ["null"]])
    }

    @Test("name the attribute that does not hold what is computed for it, and change nothing")
    func unfit() throws {
        _ = context.insert("Book", ["title": "a", "stock": 1])
        try context.save()
        let error = #expect(throws: NSError.self) {
            try update(nil, ["stock": NSExpression(format: "TERNARY(title LIKE 'a*', 1.5, 2.5)")])
        }
        #expect(error?.localizedDescription.contains("stock") == true, "\(String(describing: error))")
        #expect(try rows("stock") == [["1"]])
    }

    // MARK: Rows in the way

    @Test("report a row in the way that has other unique values", arguments: [true, false])
    func takenKey(replaces: Bool) throws {
        let request = NSBatchInsertRequest(entityName: "Shop", objects: [["code": "a"]])
        try context.execute(request)
        // Keys that the sequence gives later.
        let connection = try database.connect()
        try connection.execute(
            "INSERT INTO shop (_id, _entity, code) SELECT k, s._entity, 'other ' || k "
                + "FROM generate_series(2, 200) k, (SELECT _entity FROM shop LIMIT 1) s WHERE k <> ALL (SELECT _id FROM shop)"
        )
        context.mergePolicy =
            replaces ? NSMergePolicy.mergeByPropertyObjectTrump : NSMergePolicy.mergeByPropertyStoreTrump
        let error = #expect(throws: NSError.self) {
            try context.execute(NSBatchInsertRequest(entityName: "Shop", objects: [["code": "b"]]))
        }
        #expect(error?.code == NSManagedObjectConstraintMergeError, "\(String(describing: error))")
        #expect(try rows("count(*)", "shop WHERE code = 'b'") == [["0"]])
    }
}
