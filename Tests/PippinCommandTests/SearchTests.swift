import CoreData
import Foundation
import TestSupport
import Testing

@testable import PippinCommand

@Suite("pippin search and sql")
struct SearchTests {
    @Test("A search shows the objects of all entities, best first, with the places")
    func table() throws {
        let store = try SmallStore()
        let run = CommandRun("search", store.path, "emma")
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            run.output == """
                Book/p1
                  title  [Emma]
                Book/p3
                  title  [Emma], "again"
                2 objects

                """)
        #expect(CommandRun("search", store.path, "aus*", "OR", "persuasion").output.hasSuffix("2 objects\n"))
        #expect(CommandRun("search", store.path, "emma", "--entity", "Author").output == "0 objects\n")
        #expect(CommandRun("search", store.path, "emma", "--limit", "1").output.hasSuffix("1 of 2 objects\n"))
    }

    @Test("A search writes JSON, and changes nothing of the store")
    func json() throws {
        let store = try SmallStore()
        let before = try Data(contentsOf: URL(fileURLWithPath: store.path))
        let run = CommandRun("search", store.path, "jane -emma", "--format", "jsonl")
        let object = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        #expect(object?["entity"] as? String == "Author")
        let excerpt = (object?["excerpts"] as? [[String: Any]])?.first
        #expect(excerpt?["text"] as? String == "Jane Austen")
        #expect(excerpt?["matches"] as? [[Int]] == [[0, 4]])
        #expect(try Data(contentsOf: URL(fileURLWithPath: store.path)) == before)
    }

    @Test("Any text is a query, and one without a word is refused with the reason")
    func texts() throws {
        let store = try SmallStore()
        for text in ["\"emma", "NEAR(a b", "title:emma", "a\" OR \"b", "'; DROP TABLE ZBOOK; --"] {
            #expect(CommandRun("search", store.path, text).status == 0, "\(text)")
        }
        let run = CommandRun("search", store.path, "--", "-emma")
        #expect(run.status == 1 && run.errors.contains("has no word to look for"))
        #expect(CommandRun("search", store.path).status == 64)
    }

    @Test("A query can search, with a condition, an order and a limit")
    func query() throws {
        let store = try SmallStore()
        func titles(_ query: String) -> [String] {
            let run = CommandRun("query", store.path, query, "--format", "csv", "--columns", "pages")
            return run.output.split(separator: "\r\n").dropFirst().map {
                String($0.split(separator: ",").last ?? "")
            }
        }
        #expect(titles("Book search emma") == ["474", "12"])
        #expect(titles("Book search emma order by pages") == ["12", "474"])
        #expect(titles("Book search emma where pages < 100") == ["12"])
        #expect(titles("Book search emma limit 1") == ["474"])
        #expect(titles("Book search emma limit 1 offset 1") == ["12"])
        #expect(titles("Book search \"emma again\" limit 20") == ["12"])
        #expect(titles("Book search persuasion OR again order by pages desc") == ["249", "12"])
        let run = CommandRun("query", store.path, "Book search  limit 3")
        #expect(run.status == 1 && run.errors.contains("a word to look for is missing"))
    }

    @Test("Apple's stores are searched", .enabled(if: Fixtures.areThere, StoreFixtures.skipped))
    func fixtures() throws {
        let run = CommandRun("search", StoreFixtures.path("bookmarks/Bookmarks_V1.sqlite"), "a*", "--limit", "3")
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test("SQL has entities as tables, and attributes and relationships as columns")
    func sql() throws {
        let store = try SmallStore()
        let run = CommandRun(
            "sql", store.path,
            """
            SELECT author.name, count(*) AS books, sum(pages) AS pages FROM Book
            LEFT JOIN Author author ON Book.author = author._id GROUP BY 1 ORDER BY 1
            """)
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            run.output == """
                name         books  pages
                –                1    249
                Jane Austen      2    486
                2 rows

                """)
        let json = CommandRun("sql", store.path, "SELECT title FROM book WHERE pages > 400", "--format", "json")
        #expect(json.output == "[\n  {\"title\": \"Emma\"}\n]\n")
        let csv = CommandRun(
            "sql", store.path, "WITH b AS (SELECT * FROM Book) SELECT title FROM b ORDER BY 1", "--format", "csv")
        #expect(csv.output == "title\r\nEmma\r\n\"Emma, \"\"again\"\"\"\r\nPersuasion\r\n")
    }

    @Test("SQL has dates as dates, UUIDs as their texts, and pairs of many with many")
    func readable() throws {
        let folder = try TestFolder()
        let model = NSManagedObjectModel()
        let (book, tag) = (NSEntityDescription(), NSEntityDescription())
        (book.name, tag.name) = ("Book", "Tag")
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let (tags, books) = (NSRelationshipDescription(), NSRelationshipDescription())
        (tags.name, tags.destinationEntity, books.name, books.destinationEntity) = ("tags", tag, "books", book)
        (tags.inverseRelationship, books.inverseRelationship) = (books, tags)
        (tags.isOptional, books.isOptional) = (true, true)
        book.properties = [attribute("when", .dateAttributeType), attribute("code", .UUIDAttributeType), tags]
        tag.properties = [attribute("name", .stringAttributeType), books]
        model.entities = [book, tag]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let code = UUID()
        try context.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            object.setValue(Date(timeIntervalSinceReferenceDate: 86_400.5), forKey: "when")
            object.setValue(code, forKey: "code")
            let made = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            made.setValue("sea", forKey: "name")
            object.setValue(Set([made]), forKey: "tags")
            try context.save()
        }
        try coordinator.remove(store)
        let run = CommandRun(
            "sql", folder.store.path,
            """
            SELECT "when", code, name FROM Book JOIN Book_tags ON Book_tags.book = Book._id
            JOIN Tag ON Tag._id = Book_tags.tags
            """, "--format", "csv")
        #expect(run.errors == "")
        #expect(run.output == "when,code,name\r\n2001-01-02 00:00:00.500,\(code.uuidString.lowercased()),sea\r\n")
    }

    @Test("SQL that does more than read is refused, and a mistake is quoted")
    func refusals() throws {
        let store = try SmallStore()
        for statement in [
            "DELETE FROM ZBOOK", "DROP TABLE ZBOOK", "SELECT 1; SELECT 2", "PRAGMA user_version", "ATTACH 'x' AS x",
        ] {
            let run = CommandRun("sql", store.path, statement)
            #expect(run.status == 1 && run.output.isEmpty, "\(statement)")
        }
        let run = CommandRun("sql", store.path, "SELECT tilte FROM Book")
        #expect(run.status == 1 && run.errors.contains("no such column: tilte"))
    }
}
