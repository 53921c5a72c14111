import CodeGeneration
import CoreDataModel
import CoreDataPostgres
import Foundation
import ModelFiles
import PippinPostgres
import PostgresConnection
import PostgresServer
import StoreReading
import Testing

@testable import PippinPostgresCommand

@Suite("pippin-postgres", .needsPostgres)
struct CommandTests {
    private func run(_ arguments: String...) throws -> String {
        var text = ""
        try PostgresCommand.run(arguments) { text += $0 }
        return text
    }

    @Test("copies a store from a server to a file, and says what is in both")
    func copy() async throws {
        let shop = try Shop()
        try await shop.manager.save((0..<10).map { Book(id: "\($0)", title: "Book \($0)") })
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("copy-\(UUID().uuidString).sqlite")
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try run("copy", shop.database.uri(), file.path)
        #expect(try run("info", file.path).contains("Book: 10"))
        #expect(try run("info", shop.database.uri()).contains("Book: 10"))
        #expect(try run("info", shop.database.uri()).contains(": primary, at "))
        let manager = PersistenceManager(models: Author.self, Book.self, store: .file(file))
        #expect(try await manager.count(Book.self) == 10)
    }

    @Test("copies an XML store to a server with the model that is named, and takes none for a store on a server")
    func copyWithModel() throws {
        let shop = try Shop()
        let model = shop.manager.container.managedObjectModel
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, compiled) = (folder.appendingPathComponent("a.xml"), folder.appendingPathComponent("a.mom"))
        try SourceModelCompiler.compiledData(of: model).write(to: compiled)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: NSXMLStoreType, configurationName: nil, at: file)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue("a", forKey: "id")
            author.setValue("Jane Austen", forKey: "name")
            try context.save()
        }
        try coordinator.remove(store)
        let target = shop.database.uri() + "&schema=copied"
        #expect(throws: CommandError.self) { _ = try run("copy", file.path, target) }
        _ = try run("copy", file.path, target, "--model", compiled.path)
        #expect(try run("info", target).contains("Author: 1"))
        #expect(throws: UsageError.self) {
            _ = try run("copy", target, folder.appendingPathComponent("b.sqlite").path, "--model", compiled.path)
        }
    }

    @Test("shows a store of one configuration with the entities that it has")
    func configuration() throws {
        let shop = try Shop()
        let model = NSManagedObjectModel()
        model.entities = ["Note", "Draft"].map { name in
            let (entity, text) = (NSEntityDescription(), NSAttributeDescription())
            (text.name, text.attributeType, text.isOptional) = ("text", .stringAttributeType, true)
            (entity.name, entity.properties) = (name, [text])
            return entity
        }
        model.setEntities([model.entities[0]], forConfigurationName: "Cloud")
        let target = shop.database.uri() + "&schema=cloud"
        let url = try #require(URL(string: target))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: "Cloud", at: url)
        try coordinator.remove(store)
        let name = try #require(model.entities(forConfigurationName: "Cloud")?.first?.name)
        let info = try run("info", target)
        #expect(info.contains("\(name): 0"))
        #expect(!info.contains(name == "Note" ? "Draft" : "Note:"))
    }

    @Test("prints the statements of a migration, which psql runs as well")
    func sql() async throws {
        let shop = try Shop()
        try await shop.manager.save(Book(id: "1", title: "Emma"))
        let model = try #require(shop.manager.container.managedObjectModel.copy() as? NSManagedObjectModel)
        let added = NSAttributeDescription()
        (added.name, added.attributeType, added.isOptional) = ("subtitle", .stringAttributeType, true)
        model.entitiesByName["Book"]?.properties.append(added)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString).mom")
        defer { try? FileManager.default.removeItem(at: file) }
        try SourceModelCompiler.compiledData(of: model).write(to: file)
        let script = try run("migrate", "--sql", shop.database.uri(), file.path)
        #expect(script.contains("ALTER TABLE \"public\".\"book\" ADD COLUMN \"subtitle\" text"))
        try shop.database.connect().execute(script)
        #expect(try run("migrate", "--sql", shop.database.uri(), file.path) == "-- nothing to do\n")
        #expect(try shop.database.rows("SELECT title, subtitle FROM public.book") == [["Emma", "null"]])
    }

    @Test("prints the objects of a store, as text and as JSON, all or those of an entity")
    func dump() async throws {
        let shop = try Shop()
        let books = (0..<100).map { Book(id: "b\($0)", title: "Book \($0)", price: 2.5) }
        try await shop.manager.save(Author(id: "a", name: "Jane Austen", books: books))
        let text = try run("dump", shop.database.uri())
        #expect(text.contains("Book   100 objects"))
        #expect(text.contains("name           \"Jane Austen\"") || text.contains("\"Jane Austen\""))
        #expect(text.contains("→ Author/p1"))
        let json =
            try JSONSerialization.jsonObject(
                with: Data(try run("dump", "--json", shop.database.uri(), "Book").utf8)) as? [String: Any]
        let objects = json?["objects"] as? [String: [[String: Any]]]
        #expect(objects?.keys.sorted() == ["Book"])
        #expect(objects?["Book"]?.map { $0["title"] as? String } == books.map(\.title))
        #expect(throws: CommandError.self) { _ = try run("dump", shop.database.uri(), "Boat") }
    }

    @Test("writes the model that a store keeps as a source model")
    func extract() async throws {
        let shop = try Shop()
        try await shop.manager.save(Book(id: "1", title: "Emma"))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "shop-\(UUID().uuidString).xcdatamodeld")
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try run("model", "extract", shop.database.uri(), file.path).hasSuffix("has 2 entities.\n"))
        #expect(throws: CommandError.self) { _ = try run("model", "extract", shop.database.uri(), file.path) }
        _ = try run("model", "extract", "--force", shop.database.uri(), file.path)
        let document = try ModelPackage(at: file).document(version: file.deletingPathExtension().lastPathComponent)
        #expect(document.entities.map(\.name).sorted() == ["Author", "Book"])
        // The version is the one that the store has: nothing is to be migrated.
        let model = try ModelAssembler.model(document, versionHashes: [:])
        let own = shop.manager.container.managedObjectModel
        #expect(model.entityVersionHashesByName == own.entityVersionHashesByName)
    }

    @Test("finds what a query asks for, and marks what is wrong with it")
    func query() async throws {
        let shop = try Shop()
        try await shop.manager.save((0..<30).map { Book(id: "b\($0)", title: "Book \($0)", price: Double($0)) })
        let found = try run(
            "query", shop.database.uri(), "Book where price >= 10 order by price desc limit 2 offset 1", "--columns",
            "id,price", "--format", "csv")
        // The first column is where each object is.
        let cells = found.split(separator: "\r\n").map { $0.split(separator: ",").dropFirst().joined(separator: ",") }
        #expect(cells == ["id,price", "b28,28.0", "b27,27.0"])
        let error = #expect(throws: CommandError.self) {
            _ = try run("query", shop.database.uri(), "Book where prize > 10")
        }
        #expect(error?.message.contains("“price”") == true)
        #expect(throws: UsageError("--in-place is for files: a store on a server is not copied")) {
            _ = try run("query", shop.database.uri(), "Book", "--in-place")
        }
    }

    @Test("imports what it has exported, all of it or none")
    func exportAndImport() async throws {
        let shop = try Shop()
        let books = (0..<300).map { Book(id: "b\($0)", title: "Book, \"\($0)\"", price: Double($0) / 4) }
        try await shop.manager.save(books)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("books-\(UUID().uuidString).csv")
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try run("export", shop.database.uri(), "Book", "--output", file.path)
        try await shop.manager.deleteAll(Book.self)
        #expect(try run("import", shop.database.uri(), "Book", file.path) == "300 objects of “Book” added\n")
        #expect(
            try await shop.manager.fetch(Book.self).sorted { $0.title < $1.title }
                == books.sorted { $0.title < $1.title })
        // Each identifier is there already.
        #expect(throws: (any Error).self) { _ = try run("import", shop.database.uri(), "Book", file.path) }
        #expect(try await shop.manager.count(Book.self) == 300)
    }

    @Test("migrates to a source model, and to a version of it")
    func sourceModels() async throws {
        let shop = try Shop()
        try await shop.manager.save(Book(id: "1", title: "Emma"))
        let own = try ModelDocument(shop.manager.container.managedObjectModel)
        var wider = own
        let book = try #require(wider.entities.firstIndex { $0.name == "Book" })
        var property = try #require(wider.entities[book].properties.first { $0.name == "title" })
        (property.name, property.isOptional) = ("subtitle", true)
        wider.entities[book].properties.append(property)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "shop-\(UUID().uuidString).xcdatamodeld")
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try SourcePackageWriter.write(
            [.init(name: "One", document: own), .init(name: "Two", document: wider)], current: "Two", to: file)
        #expect(try run("migrate", shop.database.uri(), file.path, "One") == "Nothing to do.\n")
        #expect(try run("migrate", shop.database.uri(), file.path) == "Done.\n")
        #expect(try shop.database.rows("SELECT title, subtitle FROM public.book") == [["Emma", "null"]])
        #expect(throws: (any Error).self) { _ = try run("migrate", shop.database.uri(), file.path, "Three") }
    }

    @Test("migrates to source models, too, and says of a model that it cannot read why")
    func models() async throws {
        let shop = try Shop()
        try await shop.manager.save(Book(id: "1", title: "Emma"))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("models-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("Own.xcdatamodeld")
        _ = try run("model", "extract", shop.database.uri(), source.path)
        #expect(try run("migrate", shop.database.uri(), source.path) == "Nothing to do.\n")
        let damaged = folder.appendingPathComponent("Damaged.mom")
        try Data("no model".utf8).write(to: damaged)
        for (path, reason) in [(damaged.path, "damaged"), (folder.path + "/None.momd", "no such file")] {
            let error = #expect(throws: (any Error).self) { try run("migrate", shop.database.uri(), path) }
            let words = error?.localizedDescription ?? ""
            #expect(words.contains(reason))
            #expect(words.contains(path))
        }
    }

    @Test("says how it is used")
    func misuse() { #expect(throws: PostgresCommand.Misuse.self) { _ = try run("copy", "one") } }
}

@Suite("What psql changes", .needsPostgres)
struct TriggerTests {
    @Test(
        "is told to live queries by triggers, which count the row's version up; saves go on as before",
        .timeLimit(.minutes(2)))
    func told() async throws {
        let shop = try Shop()
        try await shop.manager.save(Book(id: "a", title: "A", price: 5))
        var script = ""
        try PostgresCommand.run(["triggers", shop.database.uri()]) { script += $0 }
        let connection = try shop.database.connect()
        try connection.execute(script)
        // As often as one likes.
        try connection.execute(script)
        var states = shop.manager.observe(Book.self, where: \.price < 10).makeAsyncIterator()
        #expect(try await states.next()?.map(\.price) == [5])
        try connection.execute("UPDATE book SET price = 3 WHERE id = 'a'")
        #expect(try await states.next()?.map(\.price) == [3])
        try connection.execute("INSERT INTO book (id, title, price, pages) VALUES ('b', 'B', 1, 1)")
        #expect(try await states.next()?.count == 2)
        try connection.execute("DELETE FROM book WHERE id = 'a'")
        #expect(try await states.next()?.map(\.id) == ["b"])
        #expect(try shop.database.rows("SELECT _version FROM book") == [["1"]])
        try connection.execute("UPDATE book SET title = 'C'")
        try await shop.manager.update(Book.self, where: .all) { $0.set(\.pages, to: 7) }
        #expect(try shop.database.rows("SELECT title, pages, _version FROM book") == [["C", "7", "3"]])
        try await shop.manager.save(Author(id: "x", name: "X", books: [Book(id: "b", title: "D", price: 2)]))
        #expect(try await shop.manager.find(Book.self, id: "b")?.title == "D")
    }

    @Test("is nothing that triggers of a file could tell")
    func file() {
        #expect(throws: UsageError.self) { try PostgresCommand.run(["triggers", "/tmp/a.sqlite"]) { _ in } }
    }
}
