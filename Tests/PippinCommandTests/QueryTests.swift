import CoreData
import SQLiteConnection
import TestSupport
import Testing

@testable import PippinCommand

/// A store of authors and books, made in a folder of its own.
struct SmallStore {
    let folder: TestFolder
    var path: String { folder.store.path }

    init(_ change: (NSManagedObjectModel) -> Void = { _ in }) throws {
        folder = try TestFolder()
        let model = Self.model()
        change(model)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue("Jane Austen", forKey: "name")
            for (title, pages) in [("Emma", 474), ("Persuasion", 249), ("Emma, \"again\"", 12)] {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue(title, forKey: "title")
                book.setValue(pages, forKey: "pages")
                book.setValue(title == "Persuasion" ? nil : author, forKey: "author")
                try context.save()
            }
        }
        try coordinator.remove(store)
    }

    static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let (book, author) = (NSEntityDescription(), NSEntityDescription())
        (book.name, author.name) = ("Book", "Author")
        let (writer, books) = (NSRelationshipDescription(), NSRelationshipDescription())
        (writer.name, writer.destinationEntity, writer.maxCount, writer.isOptional) = ("author", author, 1, true)
        (books.name, books.destinationEntity, books.isOptional, books.deleteRule) = (
            "books", book, true, .cascadeDeleteRule
        )
        (writer.inverseRelationship, books.inverseRelationship) = (books, writer)
        book.properties = [
            attribute("title", .stringAttributeType), attribute("pages", .integer32AttributeType), writer,
        ]
        author.properties = [attribute("name", .stringAttributeType), books]
        author.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [book, author]
        return model
    }
}

@Suite("pippin query and export")
struct QueryTests {
    @Test("A key may be written with a number sign in an order, too, as words of the language need it")
    func numberSign() throws {
        let store = try SmallStore()
        let orders = ["author.name desc, title", "#author.#name desc, #title"]
        let runs = orders.map { CommandRun("query", store.path, "Book where #title != nil order by \($0)") }
        #expect(runs[0].status == 0)
        #expect(runs[1].output == runs[0].output)
    }

    @Test("A query prints a table")
    func table() throws {
        let store = try SmallStore()
        let run = CommandRun(
            "query", store.path, "Book where author.name beginswith \"J\" order by pages desc", "--columns",
            "title,pages")
        #expect(run.status == 0)
        #expect(
            run.output == """
                #  title          pages
                1  Emma             474
                3  Emma, "again"     12
                2 objects

                """)
    }

    @Test("A column may be of an object that a relationship to one leads to")
    func relatedColumns() throws {
        let store = try SmallStore()
        let run = CommandRun(
            "query", store.path, "Book where author != nil order by pages", "--columns", "author.name,title,author",
            "--format", "csv")
        #expect(run.status == 0 && run.errors.isEmpty)
        let lines = run.output.split(separator: "\r\n").map { $0.drop { $0 != "," } }
        #expect(lines[0] == ",author.name,title,author")
        #expect(lines[1].hasPrefix(",Jane Austen,\"Emma, \"\"again\"\"\",") && lines[2].hasPrefix(",Jane Austen,Emma,"))
        let none = CommandRun(
            "query", store.path, "Book where author == nil", "--columns", "title,author.name", "--format", "jsonl")
        #expect(none.output.contains("\"title\": \"Persuasion\"") && none.output.contains("\"author.name\": null"))
        let table = CommandRun("query", store.path, "Book order by pages limit 1", "--columns", "author.name,pages")
        #expect(table.output.hasPrefix("#  author.name  pages\n3  Jane Austen     12\n"))
        let many = CommandRun("query", store.path, "Author", "--columns", "books.title")
        #expect(many.status != 0 && many.errors.contains("many objects"))
        let unknown = CommandRun("query", store.path, "Book", "--columns", "author.nme")
        #expect(unknown.status != 0 && unknown.errors.contains("name"))
    }

    @Test("A query writes CSV, JSON and JSON Lines")
    func formats() throws {
        let store = try SmallStore()
        func run(_ format: String) -> String {
            CommandRun(
                "query", store.path, "Book where title endswith 'again\"'", "--columns", "pages,title", "--format",
                format
            ).output
        }
        #expect(
            run("csv").hasSuffix("objectID,pages,title\r\n" + (run("csv").split(separator: "\r\n").last ?? "") + "\r\n")
        )
        #expect(run("csv").contains(",12,\"Emma, \"\"again\"\"\"\r\n"))
        let objects = try JSONSerialization.jsonObject(with: Data(run("json").utf8)) as? [[String: Any]]
        #expect(objects?.first?["title"] as? String == "Emma, \"again\"")
        #expect(run("jsonl").split(separator: "\n").count == 1)
        #expect(CommandRun("query", store.path, "Book where pages > 1000", "--format", "json").output == "[]\n")
    }

    @Test("A mistake is marked under the query")
    func mistake() throws {
        let store = try SmallStore()
        let run = CommandRun("query", store.path, "Book where titel == 1")
        #expect(run.status == 1)
        #expect(
            run.errors == """
                pippin: “Book” has no property “titel”; “title” may be meant
                    Book where titel == 1
                               ^^^^^

                """)
    }

    @Test("An export is read back by import, into another store of the same model")
    func exportAndImport() throws {
        let (source, target) = (try SmallStore(), try SmallStore())
        let file = source.folder.file("books.csv")
        #expect(CommandRun("export", source.path, "Author", "--output", file.path).status == 0)
        let text = try String(contentsOf: file, encoding: .utf8).replacing("Jane Austen", with: "Mary Shelley")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let run = CommandRun("import", target.path, "Author", file.path)
        #expect(run.errors.isEmpty)
        #expect(run.output == "1 object of “Author” added\n")
        #expect(
            try plainSQL("SELECT ZNAME FROM ZAUTHOR ORDER BY Z_PK", in: target.folder.store) == [
                "Jane Austen", "Mary Shelley",
            ])
    }

    @Test(
        "An import adds all or nothing, and says where it stopped",
        arguments: [
            ("title,pages\nA,1\nB,many\n", "csv", "line 3: “pages” needs a whole number of 32 bits, and is “many”"),
            ("title,pags\nA,1\n", "csv", "line 2: “Book” has no property “pags”; “pages” may be meant"),
            ("title,pages\nA\n", "csv", "line 2: 1 cells, where the first line has 2"),
            ("title\n\"A\n", "csv", "line 2: a quotation mark has no second one"),
            ("{\"title\": \"A\"}\n{\n", "jsonl", "line 2: no JSON object"),
            ("{}", "json", "an array of objects in JSON expected"),
            (
                "[{\"title\": \"A\", \"author\": \"x\"}]", "json",
                "element 1: “author” is “x”, which is not an object of the store"
            ),
            (
                "[{\"title\": \"A\", \"author\": []}]", "json",
                "element 1: “author” is “[]”, which is not an object of the store"
            ),
        ])
    func refusedImport(_ text: String, _ format: String, _ message: String) throws {
        let store = try SmallStore()
        let file = store.folder.file("books.\(format)")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let run = CommandRun("import", store.path, "Book", file.path)
        #expect(run.status == 1)
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(try plainNumber("SELECT COUNT(*) FROM ZBOOK", in: store.folder.store) == 3)
    }

    @Test("Values of JSON keep their kinds, empty cells are not values")
    func values() throws {
        let store = try SmallStore()
        let author = try #require(
            CommandRun("query", store.path, "Author", "--format", "csv").output.split(separator: "\r\n").last?.split(
                separator: ","
            ).first)
        for (name, text) in [
            ("a.json", "[{\"title\": \"A\", \"pages\": 7, \"author\": \"\(author)\"}]"),
            ("b.csv", "title,pages,author\r\n\"B\nB\",,\r\n"),
        ] {
            try text.write(to: store.folder.file(name), atomically: true, encoding: .utf8)
            #expect(CommandRun("import", store.path, "Book", store.folder.file(name).path).errors.isEmpty)
        }
        #expect(
            try plainSQL(
                "SELECT ZTITLE, ZPAGES, ZAUTHOR FROM ZBOOK WHERE Z_PK > 3 ORDER BY Z_PK", in: store.folder.store) == [
                    "A|7|1", "B\nB||",
                ])
    }
}
