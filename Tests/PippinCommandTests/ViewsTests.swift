import CoreData
import SQLiteConnection
import TestSupport
import Testing

@testable import PippinCommand

@Suite("pippin views, and exports for other programs")
struct ViewsTests {
    private let store: SmallStore

    init() throws {
        store = try SmallStore { model in
            guard let book = model.entitiesByName["Book"], let author = model.entitiesByName["Author"] else { return }
            let types: [(String, NSAttributeType)] = [("published", .dateAttributeType), ("code", .UUIDAttributeType)]
            for (name, type) in types {
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
                book.properties.append(attribute)
            }
            let (readers, read) = (NSRelationshipDescription(), NSRelationshipDescription())
            (readers.name, readers.destinationEntity, readers.isOptional) = ("readers", author, true)
            (read.name, read.destinationEntity, read.isOptional) = ("read", book, true)
            (readers.inverseRelationship, read.inverseRelationship) = (read, readers)
            book.properties.append(readers)
            author.properties.append(read)
        }
        let connection = try Connection(path: store.path, mode: .readWrite)
        // 2024-05-01 13:30:15.25, and the day before without a fraction.
        try connection.execute(
            "UPDATE ZBOOK SET ZPUBLISHED = 736263015.25, ZCODE = x'00112233445566778899AABBCCDDEEFF' WHERE Z_PK = 1")
        try connection.execute("UPDATE ZBOOK SET ZPUBLISHED = 736176600 WHERE Z_PK = 2")
    }

    /// Runs the script as another program would, and a query after it.
    private func rows(_ query: String) throws -> [String] {
        let run = CommandRun("views", store.path)
        try #require(run.status == 0, "\(run.errors)")
        let connection = try Connection(path: ":memory:", mode: .readWrite)
        try connection.execute(run.output)
        return try plainSQL(query, in: connection)
    }

    @Test("A view has the model's names, and dates and UUIDs as texts")
    func values() throws {
        #expect(
            try rows("SELECT _key, title, pages, published, code FROM Book ORDER BY _key") == [
                "1|Emma|474|2024-05-01 13:30:15.250|00112233-4455-6677-8899-aabbccddeeff",
                "2|Persuasion|249|2024-04-30 13:30:00.000|", "3|Emma, \"again\"|12||",
            ])
    }

    @Test("Views are joined by the keys that they show")
    func relationships() throws {
        #expect(
            try rows("SELECT b.title, a.name FROM Book b JOIN Author a ON a._key = b.author ORDER BY b._key") == [
                "Emma|Jane Austen", "Emma, \"again\"|Jane Austen",
            ])
        #expect(try rows("SELECT * FROM Author_read") == [])
    }

    @Test("The store stays as it is, and the script names it by its whole path")
    func unchanged() throws {
        let before = try Data(contentsOf: store.folder.store)
        _ = try rows("SELECT * FROM Book")
        #expect(try Data(contentsOf: store.folder.store) == before)
    }

    @Test("The dates of a column have one width", arguments: ["csv", "jsonl"])
    func dates(format: String) throws {
        let run = CommandRun("export", store.path, "Book", "--format", format)
        #expect(run.output.contains("2024-05-01T13:30:15.250Z"), "\(run.output)")
        #expect(run.output.contains("2024-04-30T13:30:00.000Z"), "\(run.output)")
        let query = CommandRun("query", store.path, "Book where title = \"Persuasion\"", "--format", format)
        #expect(query.output.contains("2024-04-30T13:30:00Z"))
    }

    @Test("All entities are exported at once, each object in one file")
    func all() throws {
        let folder = store.folder.file("out").path
        let run = CommandRun("export", store.path, "--all", "--output", folder)
        #expect(run.output == "Author.csv\nBook.csv\n", "\(run.errors)")
        let books = try String(contentsOfFile: "\(folder)/Book.csv", encoding: .utf8)
        #expect(books.split(separator: "\r\n").count == 4)
        #expect(CommandRun("export", store.path, "--all").status == 64)
    }
}
