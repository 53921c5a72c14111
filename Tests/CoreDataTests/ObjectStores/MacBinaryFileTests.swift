import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel

/// Binary files as Core Data on macOS writes them, made by Foundation's archiver.
@Suite("Binary stores of Core Data on macOS")
struct MacBinaryFileTests {
    private let library: DocumentStoreTests
    private var url: URL { library.folder.file("library") }

    init() throws { library = try DocumentStoreTests() }

    /// Authors and their books, of which comics are some.
    private static func model(transient: Bool = false, version: Int = 1) -> NSManagedObjectModel {
        let author = Library.entity(
            "Author",
            [
                Library.attribute("name", .stringAttributeType), Library.attribute("born", .dateAttributeType),
                Library.attribute("age", .integer16AttributeType), Library.attribute("isLiving", .booleanAttributeType),
                Library.attribute("token", .UUIDAttributeType), Library.attribute("photo", .binaryDataAttributeType),
                Library.attribute("words", .transformableAttributeType),
                Library.attribute("homepage", .URIAttributeType), Library.attribute("wealth", .decimalAttributeType),
            ])
        var properties = [
            Library.attribute("title", .stringAttributeType), Library.attribute("price", .doubleAttributeType),
        ]
        if transient { properties.append(Library.attribute("label", .stringAttributeType, transient: true)) }
        if version > 1 { properties.append(Library.attribute("isbn", .stringAttributeType)) }
        let book = Library.entity("Book", properties)
        let comic = Library.entity("Comic", [Library.attribute("artist", .stringAttributeType)])
        book.subentities = [comic]
        Library.connect(author, "books", toMany: true, ordered: true, book, "author")
        let model = NSManagedObjectModel()
        model.entities = [author, book, comic]
        return model
    }

    private func write(_ nodes: [MacBinaryNode]) throws {
        try MacBinaryFile(nodes, entities: ["Author", "Book", "Comic"]).data.write(to: url)
    }

    private func writeLibrary() throws {
        let token = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        try write([
            // In the order age, born, homepage, isLiving, name, photo, token, wealth, words, and then the books.
            MacBinaryNode(
                "Author", 3,
                [
                    36, Date(timeIntervalSinceReferenceDate: 77.5), URL(string: "https://ada.example/a"), 1, "Ada",
                    Data([0, 1, 255]), token, nil, ["one", "two"], nil,
                ], ["books": [7, 5]]),
            MacBinaryNode("Book", 5, [0.5, "Notes", nil], ["author": [3]]),
            MacBinaryNode("Comic", 7, [nil, "Engine", "Sydney", nil], ["author": [3]]),
            MacBinaryNode("Book", 8, [2, nil, nil]),
        ])
    }

    private func open(_ model: NSManagedObjectModel = model()) throws -> NSManagedObjectContext {
        try library.open(NSBinaryStoreType, model)
    }

    @Test("Values are read by their places: inherited attributes first, each by name, before relationships")
    func reading() throws {
        try writeLibrary()
        let context = try open()
        try context.performAndWait {
            let ada = try #require(try context.all("Author").first)
            #expect(ada.string("name") == "Ada")
            #expect(ada.value(forKey: "age") as? Int == 36)
            #expect(ada.value(forKey: "isLiving") as? Bool == true)
            #expect(ada.value(forKey: "born") as? Date == Date(timeIntervalSinceReferenceDate: 77.5))
            #expect((ada.value(forKey: "token") as? UUID)?.uuidString == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
            #expect((ada.value(forKey: "homepage") as? URL)?.absoluteString == "https://ada.example/a")
            #expect(ada.value(forKey: "photo") as? Data == Data([0, 1, 255]))
            #expect(ada.value(forKey: "words") as? [String] == ["one", "two"])
            #expect(ada.value(forKey: "wealth") == nil)
            let books = (ada.value(forKey: "books") as? NSOrderedSet)?.array as? [NSManagedObject]
            #expect(books?.map { $0.string("title") } == ["Engine", "Notes"])
            #expect(books?.first?.string("artist") == "Sydney")
            #expect(books?.last?.value(forKey: "price") as? Double == 0.5)
            #expect(books?.last?.value(forKey: "author") as? NSManagedObject === ada)
            #expect(ada.objectID.uriRepresentation().absoluteString.hasSuffix("/Author/p3"))
        }
    }

    @Test("A save keeps the layout, the metadata and the values, and new objects get numbers after the last one")
    func saving() throws {
        try writeLibrary()
        let context = try open()
        try context.performAndWait {
            let ada = try #require(try context.all("Author").first)
            ada.setValue(37, forKey: "age")
            ada.setValue(NSDecimalNumber(string: "12.5"), forKey: "wealth")
            let books = NSMutableOrderedSet(orderedSet: ada.value(forKey: "books") as? NSOrderedSet ?? [])
            books.insert(context.make("Comic", ["title": "New", "artist": "Ann"]), at: 1)
            ada.setValue(books, forKey: "books")
            context.delete(try #require(try context.all("Book", NSPredicate(format: "title == nil")).first))
            try context.save()
            let new = try #require(try context.all("Comic", NSPredicate(format: "title == 'New'")).first)
            #expect(new.objectID.uriRepresentation().absoluteString.hasSuffix("/Comic/p10"))
        }
        #expect(try Data(contentsOf: url).starts(with: Data("CoreData\0\0\0\u{1}".utf8)))
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSBinaryStoreType, at: url)
        #expect(metadata[NSStoreUUIDKey] as? String == "1D7A3B1E-9C57-4B43-8F2B-6A5C1D5F0E11")
        let reopened = try open()
        try reopened.performAndWait {
            let ada = try #require(try reopened.all("Author").first)
            #expect(ada.value(forKey: "age") as? Int == 37)
            #expect((ada.value(forKey: "wealth") as? NSDecimalNumber)?.stringValue == "12.5")
            #expect(ada.value(forKey: "born") as? Date == Date(timeIntervalSinceReferenceDate: 77.5))
            #expect((ada.value(forKey: "token") as? UUID)?.uuidString == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
            #expect((ada.value(forKey: "homepage") as? URL)?.absoluteString == "https://ada.example/a")
            #expect(ada.value(forKey: "photo") as? Data == Data([0, 1, 255]))
            #expect(ada.value(forKey: "words") as? [String] == ["one", "two"])
            let books = (ada.value(forKey: "books") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
            #expect(books.map { $0.string("title") } == ["Engine", "New", "Notes"])
            #expect(books[1].string("artist") == "Ann")
            #expect(try reopened.all("Book").count == 3)
        }
    }

    @Test("A whole number or Boolean that was archived as a real one is read, unless it has a fraction")
    func realNumbers() throws {
        func write(age: Double) throws {
            let values: [Any?] = [
                NSNumber(value: age), nil, nil, NSNumber(value: 1.0), "Ada", nil, nil, nil, nil, nil,
            ]
            try self.write([MacBinaryNode("Author", 3, values)])
        }
        try write(age: 36)
        let context = try open()
        try context.performAndWait {
            let ada = try #require(try context.all("Author").first)
            #expect(ada.value(forKey: "age") as? Int == 36)
            #expect(ada.value(forKey: "isLiving") as? Bool == true)
        }
        try write(age: 36.5)
        #expect(throws: CocoaError.self) { try open() }
    }

    @Test("Places of fetched properties stay when something is saved", arguments: [0, 1])
    func fetchedProperties(count: Int) throws {
        let model = Self.model()
        let (book, fetched) = (try #require(model.entitiesByName["Book"]), NSFetchedPropertyDescription())
        fetched.name = "others"
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = book
        fetched.fetchRequest = request
        book.properties += [fetched]
        let values: [Any?] = [0.5, "Notes", nil]
        try write([MacBinaryNode("Book", 5, values + Array(repeating: nil, count: count))])
        let context = try open(model)
        try context.performAndWait {
            try #require(try context.all("Book").first).setValue("New", forKey: "title")
            context.make("Book", ["title": "Newer"])
            try context.save()
        }
        let document = try CoreDataBinaryFile.document(of: Data(contentsOf: url))
        #expect(document.objects.map { $0.places?.count } == [3 + count, 3 + count])
    }

    @Test("Other metadata leave the objects as they are")
    func metadata() throws {
        try writeLibrary()
        try NSPersistentStoreCoordinator.setMetadata(
            ["colour": "green"], forPersistentStoreOfType: NSBinaryStoreType, at: url)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSBinaryStoreType, at: url)
        #expect(metadata["colour"] as? String == "green")
        #expect(metadata["NSPersistenceFrameworkVersion"] as? Int == 1152)
        let context = try open()
        #expect(try context.performAndWait { try context.all("Book").count } == 3)
    }

    @Test("A model with more attributes than the file has places is of another version")
    func otherVersion() throws {
        try writeLibrary()
        let error = #expect(throws: NSError.self) { try open(Self.model(version: 2)) }
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(error?.localizedDescription.contains("has places for 3 properties") == true)
    }

    @Test("Such a file is migrated from the version of the model whose places it has, in a package of several")
    func migration() throws {
        try writeLibrary()
        let newest = Self.model(version: 2)
        let known = KnownVersions([
            KnownVersion(name: "1", model: Self.model()), KnownVersion(name: "2", model: newest),
        ])
        let context = try library.open(
            NSBinaryStoreType, newest,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                PippinProgressiveMigrationOptionKey: known,
            ])
        try context.performAndWait {
            let book = try #require(try context.all("Book", NSPredicate(format: "title == 'Engine'")).first)
            #expect(book.string("artist") == "Sydney")
            #expect((book.value(forKey: "author") as? NSManagedObject)?.string("name") == "Ada")
            book.setValue("1", forKey: "isbn")
            try context.save()
        }
    }

    @Test("A transient attribute has a place without a value, among the others or behind them, and keeps it")
    func transients() throws {
        for values in [[nil, 0.5, "A", nil], [0.5, "A", nil, nil]] as [[Any?]] {
            try write([MacBinaryNode("Book", 1, values)])
            let context = try open(Self.model(transient: true))
            try context.performAndWait {
                let book = try #require(try context.all("Book").first)
                #expect(book.string("title") == "A")
                book.setValue("B", forKey: "title")
                book.setValue("shown", forKey: "label")
                try context.save()
            }
            let reopened = try open(Self.model(transient: true))
            try reopened.performAndWait {
                let book = try #require(try reopened.all("Book").first)
                #expect(book.string("title") == "B")
                #expect(book.value(forKey: "price") as? Double == 0.5)
                #expect(book.string("label") == nil)
            }
        }
        // One order fits the types of the values.
        try write([MacBinaryNode("Book", 1, [nil, 0.5, nil, nil])])
        let typed = try open(Self.model(transient: true))
        try typed.performAndWait {
            let book = try #require(try typed.all("Book").first)
            #expect(book.value(forKey: "price") as? Double == 0.5)
        }
        // Where the file does not show it, nothing is written.
        try write([MacBinaryNode("Book", 1, [nil, nil, nil, nil])])
        let context = try open(Self.model(transient: true))
        try context.performAndWait {
            try #require(try context.all("Book").first).setValue("B", forKey: "title")
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.localizedDescription.contains("Book.label") == true)
        }
    }

    @Test("A file is not opened if it does not show which attribute a value is of, because of a transient one")
    func ambiguity() throws {
        let model = NSManagedObjectModel()
        model.entities = [
            Library.entity(
                "Book",
                [
                    Library.attribute("author", .stringAttributeType, transient: true),
                    Library.attribute("label", .stringAttributeType), Library.attribute("title", .stringAttributeType),
                ])
        ]
        func write(_ nodes: [MacBinaryNode]) throws {
            try MacBinaryFile(nodes, entities: ["Book"]).data.write(to: url)
        }
        try write([MacBinaryNode("Book", 1, [nil, "A", nil])])
        let error = #expect(throws: NSError.self) { try open(model) }
        #expect(error?.localizedDescription.contains("“Book.label”") == true)
        // Another object shows it.
        try write([MacBinaryNode("Book", 1, [nil, "A", nil]), MacBinaryNode("Book", 2, [nil, "B", "C"])])
        let context = try open(model)
        try context.performAndWait {
            let labels = try context.all("Book", by: "label").map { $0.string("label") }
            #expect(labels == ["A", "B"])
        }
    }

    @Test("A file is not opened if its places have other attributes in each of the versions that it may be of")
    func versionsOfOneShape() throws {
        func model(_ names: [String], _ identifier: String = "") -> NSManagedObjectModel {
            let model = NSManagedObjectModel()
            model.entities = [Library.entity("Note", names.map { Library.attribute($0, .stringAttributeType) })]
            model.versionIdentifiers = [identifier]
            return model
        }
        func open(_ versions: [NSManagedObjectModel]) throws -> [String?] {
            let known = KnownVersions(versions.enumerated().map { KnownVersion(name: "v\($0)", model: $1) })
            let context = try library.open(
                NSBinaryStoreType, try #require(versions.last),
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                    PippinProgressiveMigrationOptionKey: known,
                ])
            return try context.performAndWait { try context.all("Note").map { $0.string("text") } }
        }
        func write(_ identifier: String) throws {
            let node = MacBinaryNode("Note", 1, ["of what", "what is said"])
            try MacBinaryFile([node], entities: ["Note"], identifier: identifier).data.write(to: url)
        }
        try write("")
        let error = #expect(throws: NSError.self) {
            try open([model(["subject", "text"]), model(["text", "title"])])
        }
        #expect(error?.code == NSMigrationMissingSourceModelError)
        #expect(error?.localizedDescription.contains("“v0” or “v1”") == true)
        try write("1")
        let other = #expect(throws: NSError.self) {
            try library.open(NSBinaryStoreType, model(["text", "title"], "2"))
        }
        #expect(other?.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(try open([model(["subject", "text"], "1"), model(["text", "title"], "2")]) == ["what is said"])
    }

    @Test("A file that is cut off, or whose header lies, is damaged")
    func damage() throws {
        try writeLibrary()
        let whole = try Data(contentsOf: url)
        for length in stride(from: 8, to: whole.count, by: 97) {
            try whole.prefix(length).write(to: url)
            let error = #expect(throws: CocoaError.self) { try open() }
            #expect(error?.code == .fileReadCorruptFile, "\(length) bytes")
        }
        for place in 16..<48 {
            var file = whole
            file[place] = 0xFF
            try file.write(to: url)
            #expect(throws: CocoaError.self) { try open() }
        }
    }
}
