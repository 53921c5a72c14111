import StoreReading
import TestSupport
import Testing

@testable import CoreData
@testable import PippinCommand

/// An XML or binary store keeps no copy of its model; its file says more or less about its objects.
@Suite("XML and binary stores without a model")
struct DocumentWithoutModelTests {
    private static let source = """
        <model>
            <entity name="Book">
                <attribute name="cover" optional="YES" attributeType="Binary"/>
                <attribute name="isRead" optional="YES" attributeType="Boolean"/>
                <attribute name="number" optional="YES" attributeType="UUID"/>
                <attribute name="pages" optional="YES" attributeType="Integer 16"/>
                <attribute name="price" optional="YES" attributeType="Decimal"/>
                <attribute name="published" optional="YES" attributeType="Date"/>
                <attribute name="title" optional="YES" attributeType="String"/>
                <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books"/>
            </entity>
            <entity name="Comic" parentEntity="Book"/>
            <entity name="Author">
                <attribute name="name" optional="YES" attributeType="String"/>
                <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author"/>
            </entity>
        </model>
        """
    private static let number = UUID()

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private var path: String { folder.store.path }

    private static func model() throws -> NSManagedObjectModel {
        try ModelAssembler.model(SourceReader.document(of: Data(source.utf8)))
    }

    /// Saves a book and a comic of one author, and one of another.
    private func makeStore(_ type: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try Self.model())
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.store)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let author = make("Author", ["name": "Ann"])
            _ = make(
                "Book",
                [
                    "title": "Emma", "isRead": true, "pages": 474, "price": NSDecimalNumber(string: "12.50"),
                    "published": Date(timeIntervalSinceReferenceDate: 86400), "cover": Data("PNG".utf8),
                    "number": Self.number, "author": author,
                ])
            _ = make("Comic", ["title": "Blake", "isRead": false, "author": author])
            _ = make("Book", ["title": "Rags", "author": make("Author", ["name": "Bea"])])
            try context.save()
        }
        try coordinator.remove(store)
    }

    private func objects(_ arguments: String...) throws -> [[String: Any]] {
        let run = CommandRun(arguments: [arguments[0], path] + arguments.dropFirst() + ["--format", "json"])
        try #require(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("keeps no copy of its model"))
        return try #require(JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]])
    }

    @Test("are exported with values of their types", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func types(type: String) throws {
        try makeStore(type)
        let emma = try #require(try objects("export", "Book").first { $0["title"] as? String == "Emma" })
        #expect(emma[type == NSXMLStoreType ? "isread" : "isRead"] as? Bool == true)
        #expect(emma["pages"] as? Int == 474)
        #expect((emma["price"] as? NSNumber)?.stringValue == "12.5")
        #expect(emma["published"] as? String == "2001-01-02T00:00:00Z")
        #expect(emma["cover"] as? String == Data("PNG".utf8).base64EncodedString())
        #expect((emma["number"] as? String)?.uppercased() == Self.number.uuidString)
        let flag = try #require(emma[type == NSXMLStoreType ? "isread" : "isRead"] as? NSNumber)
        #expect(String(cString: flag.objCType) == String(cString: NSNumber(value: true).objCType))
    }

    @Test("are queried by values and relationships", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func queries(type: String) throws {
        try makeStore(type)
        func titles(_ query: String) throws -> [String] {
            try objects("query", query).compactMap { $0["title"] as? String }
        }
        #expect(try titles("Book where published < \"2001-02-01\" and isRead == true") == ["Emma"])
        #expect(try titles("Book where price > 12 and number == \"\(Self.number)\"") == ["Emma"])
        #expect(try titles("book where author.name == \"Ann\" order by title").sorted().contains("Emma"))
        #expect(try titles("Comic where author.name == \"Ann\"") == ["Blake"])
        #expect(
            try objects("query", "Author where any books.title == \"Blake\"").map { $0["name"] as? String } == ["Ann"])
        #expect(try objects("query", "Author where books.@count == 2").count == 1)
    }

    @Test("have the entities that their relationships show to inherit", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func inheritance(type: String) throws {
        try makeStore(type)
        #expect(CommandRun("info", path).output.contains("Comic : Book   1 object"))
        #expect(try objects("query", "Book").count == 3)
    }

    @Test("are checked and reported on, which says what is not known", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func checks(type: String) throws {
        try makeStore(type)
        let check = CommandRun("check", path)
        #expect(check.status == 0)
        #expect(check.output.contains("nothing is wrong\n  not checked: what only its model says."))
        let page = folder.file("report.html")
        #expect(CommandRun("report", path, "--output", page.path).status == 0)
        let text = try String(contentsOf: page, encoding: .utf8)
        #expect(text.contains("keeps no copy of its model"))
        #expect(text.contains("Emma"))
    }

    @Test("are not imported into: that takes the model", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func imports(type: String) throws {
        try makeStore(type)
        let file = folder.file("books.jsonl")
        try Data("{\"title\": \"Ivy\"}\n".utf8).write(to: file)
        let before = try Data(contentsOf: folder.store)
        let run = CommandRun("import", path, "Book", file.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("--model names a model"))
        #expect(try Data(contentsOf: folder.store) == before)
    }

    @Test("show of a binary file of an earlier version what its values say")
    func earlierFile() throws {
        var document = StoreDocument(
            metadata: [NSStoreUUIDKey: "4B1F", NSStoreTypeKey: NSBinaryStoreType], lastKey: 102)
        for (key, entity) in [(101, "Cat"), (102, "Dog")] {
            var object = StoreDocument.Object(entityName: entity, key: Int64(key))
            object.attributes = [("name", .text(entity)), ("born", .double(86400)), ("legs", .integer(4))]
            document.objects.append(object)
        }
        var owner = StoreDocument.Object(entityName: "Owner", key: 103)
        owner.relationships = [("pets", [101, 102])]
        document.objects.append(owner)
        try BinaryStoreArchive.data(of: document, entities: [:]).write(to: folder.store)
        let cats = try objects("query", "Cat where legs == 4")
        #expect(cats.map { $0["name"] as? String } == ["Cat"])
        #expect(cats.first?["born"] as? Double == 86400)
        #expect(try objects("query", "Owner where pets.@count == 2 and any pets.name == \"Dog\"").count == 1)
    }

    @Test("have numbers instead of names in a binary file of Core Data on macOS, and values of their types")
    func places() throws {
        let layout = try Self.model().compiledLayout()
        var document = StoreDocument(
            metadata: [NSStoreUUIDKey: "4B1F", NSStoreTypeKey: NSBinaryStoreType], lastKey: 103)
        document.hasCoreDataLayout = true
        var book = StoreDocument.Object(entityName: "Book", key: 102)
        book.attributes = [
            ("cover", .data(Data("PNG".utf8))), ("number", .text(Self.number.uuidString)), ("pages", .integer(474)),
            ("price", .text("12.5")), ("published", .double(86400)), ("title", .text("Emma")),
        ]
        book.relationships = [("author", [103])]
        var author = StoreDocument.Object(entityName: "Author", key: 103)
        author.attributes = [("name", .text("Ann"))]
        author.relationships = [("books", [102])]
        document.objects = [book, author]
        var order = PlaceOrder()
        order.mixesTransients = false
        try CoreDataBinaryFile.data(of: document, entities: layout.entityByName, order: order).write(to: folder.store)
        let books = try objects("query", "Book where value6 < \"2001-02-01\" and any author.value1 == \"Ann\"")
        #expect(books.count == 1)
        #expect(books.first?["value1"] as? String == Data("PNG".utf8).base64EncodedString())
        #expect((books.first?["value3"] as? String)?.uppercased() == Self.number.uuidString)
        #expect(books.first?["value4"] as? Int == 474)
        #expect(books.first?["value6"] as? String == "2001-01-02T00:00:00Z")
        #expect(books.first?["value7"] as? String == "Emma")
        #expect(CommandRun("query", path, "Book").errors.contains("attributes have numbers instead of names"))
    }

    @Test(
        "are known by their first element, also without an XML declaration",
        arguments: ["", "\u{FEFF}", "\n<!-- exported -->\n"])
    func declaration(start: String) throws {
        try makeStore(NSXMLStoreType)
        let whole = try String(contentsOf: folder.store, encoding: .utf8)
        for mark in ["<!DOCTYPE database", "<database>"] {
            let place = try #require(whole.range(of: mark))
            try Data((start + whole[place.lowerBound...]).utf8).write(to: folder.store)
            #expect(try objects("query", "Book where isRead == true").count == 1)
            let type = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: nil, at: folder.store)
            #expect(type[NSStoreTypeKey] as? String == NSXMLStoreType)
        }
        try Data((start + "<databases/>").utf8).write(to: folder.store)
        #expect(CommandRun("info", path).errors.contains("is not a store"))
    }
}
