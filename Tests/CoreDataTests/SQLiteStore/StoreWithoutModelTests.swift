import CodeGeneration
import CoreData
import Foundation
import TestSupport
import Testing

/// Core Data before iOS 8 kept no copy of the model, and its version hashes cannot be compared with ours: the tables
/// decide.
@Suite("Stores of Apple's without a copy of their model")
struct StoreWithoutModelTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static func model(
        _ attributes: [NSAttributeDescription], others: [NSEntityDescription] = []
    ) -> NSManagedObjectModel {
        let book = Library.entity("Book", attributes)
        let tag = Library.entity("Tag", [Library.attribute("name", .stringAttributeType)])
        Library.connect(book, "tags", toMany: true, tag, "books", inverseToMany: true)
        let model = NSManagedObjectModel()
        model.entities = [book, tag] + others
        return model
    }

    private static func model() -> NSManagedObjectModel {
        model([Library.attribute("title", .stringAttributeType), Library.attribute("pages", .integer16AttributeType)])
    }

    /// Makes a store with one book, and takes from it what Core Data of those years did not write.
    private func makeStore(withHashes: Bool = true) throws {
        let context = try Library.stored(at: folder.store, Self.model()).newBackgroundContext()
        try context.performAndWait {
            let tag = context.make("Tag", ["name": "novel"])
            context.make("Book", ["title": "Emma", "pages": 474, "tags": NSSet(object: tag)])
            try context.save()
        }
        let hashes = ["Book": Data(repeating: 1, count: 32), "Tag": Data(repeating: 2, count: 32)]
        let metadata: [String: Any] = [
            "NSPersistenceFrameworkVersion": 419, "NSStoreModelVersionHashesVersion": 3, "NSStoreType": "SQLite",
            "NSStoreModelVersionHashes": hashes,
        ]
        let list = try PropertyListSerialization.data(
            fromPropertyList: withHashes ? metadata : [:], format: .binary, options: 0)
        let bytes = list.map { String(format: "%02X", $0) }.joined()
        try execute("UPDATE Z_METADATA SET Z_PLIST = X'\(bytes)'", in: folder.store)
        try execute("DROP TABLE Z_MODELCACHE", in: folder.store)
    }

    private func open(
        _ model: NSManagedObjectModel, _ options: [AnyHashable: Any] = [:]
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("A model that makes exactly the tables of the store opens it")
    func opens() throws {
        try makeStore()
        let context = try open(Self.model())
        try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            #expect(book.value(forKey: "pages") as? Int == 474)
            #expect((book.value(forKey: "tags") as? NSSet)?.count == 1)
            book.setValue("Emma (1815)", forKey: "title")
            try context.save()
        }
        #expect(try plainSQL("SELECT ZTITLE FROM ZBOOK", in: folder.store) == ["Emma (1815)"])
    }

    @Test("A join table whose columns have no types, and that has no key, as up to Mac OS X 10.5, holds each pair once")
    func plainJoinTable() throws {
        try makeStore()
        for statement in [
            "CREATE TABLE z (Z_1BOOKS, Z_2TAGS)", "INSERT INTO z SELECT Z_1BOOKS, Z_2TAGS FROM Z_1TAGS",
            "DROP TABLE Z_1TAGS", "ALTER TABLE z RENAME TO Z_1TAGS",
        ] {
            try execute(statement, in: folder.store)
        }
        let context = try open(Self.model())
        try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            let other = context.make("Tag", ["name": "English"])
            book.setValue(book.objects("tags").union([other]), forKey: "tags")
            let tag = try #require(try context.all("Tag", NSPredicate(format: "name == 'novel'")).first)
            tag.setValue(tag.objects("books").union([context.make("Book", ["title": "Persuasion"])]), forKey: "books")
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 2)
            #expect(
                try context.all("Book", NSPredicate(format: "tags.@count == 2")).map { $0.string("title") } == ["Emma"])
        }
        #expect(try plainSQL("SELECT COUNT(*) FROM Z_1TAGS", in: folder.store) == ["3"])
    }

    @Test("What a table does not show, such as optional and indexed, keeps no model from it")
    func unseen() throws {
        try makeStore()
        let title = Library.attribute("title", .stringAttributeType, optional: false)
        let shown = Library.attribute("shown", .stringAttributeType, transient: true)
        let context = try open(Self.model([title, Library.attribute("pages", .integer32AttributeType), shown]))
        #expect(try context.performAndWait { try context.all("Book").count } == 1)
    }

    @Test(
        "A model with a column more, a column less, another type or an entity more does not",
        arguments: [
            [
                ("title", NSAttributeType.stringAttributeType), ("pages", .integer16AttributeType),
                ("isbn", .stringAttributeType),
            ],
            [("title", .stringAttributeType)],
            [("title", .stringAttributeType), ("pages", .doubleAttributeType)],
            [],
        ])
    func otherTables(attributes: [(String, NSAttributeType)]) throws {
        try makeStore()
        let model =
            attributes.isEmpty
            ? Self.model(
                Self.model().entitiesByName["Book"]?.attributesByName.values.map {
                    Library.attribute($0.name, $0.attributeType)
                }
                    ?? [], others: [Library.entity("Shelf", [Library.attribute("code", .stringAttributeType)])])
            : Self.model(attributes.map { Library.attribute($0.0, $0.1) })
        let error = #expect(throws: NSError.self) { try open(model) }
        #expect(error?.code == 134100)
    }

    /// Three versions of the model in a package, the second of which made the store. With tags, the last version, which
    /// it returns, has a second relationship between books and tags.
    private func makeVersions(withSecondTags tags: Bool = false) throws -> NSManagedObjectModel {
        let package = folder.file("Library.xcdatamodeld")
        let later = Self.model([
            Library.attribute("title", .stringAttributeType), Library.attribute("pages", .integer16AttributeType),
            Library.attribute("isbn", .stringAttributeType, defaultValue: "none"),
        ])
        if tags, let book = later.entitiesByName["Book"], let tag = later.entitiesByName["Tag"] {
            Library.connect(book, "marks", toMany: true, tag, "marked", inverseToMany: true)
        }
        let unlike = Self.model([Library.attribute("name", .stringAttributeType)])
        for (name, model) in [("Library", unlike), ("Library 2", Self.model()), ("Library 3", later)] {
            let version = package.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            try SourceWriter.contents(of: ModelDocument(model)).write(
                to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        return try ModelPackage(at: package).model(version: "Library 3")
    }

    private static var migrating: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    @Test(
        "Its version is found among those of the model's package, and it is migrated, also without hashes as in Mac OS X 10.4",
        arguments: [true, false])
    func migrates(withHashes: Bool) throws {
        try makeStore(withHashes: withHashes)
        let context = try open(try makeVersions(), Self.migrating)
        try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            #expect(book.value(forKey: "isbn") as? String == "none")
            #expect(book.value(forKey: "title") as? String == "Emma")
            #expect((book.value(forKey: "tags") as? NSSet)?.count == 1)
        }
    }

    @Test("A join table that is left of a relationship which is gone does not keep it from being migrated, and stays")
    func leftJoinTable() throws {
        try makeStore()
        try execute(
            "CREATE TABLE Z_1FRIENDS (Z_1FRIENDS INTEGER, REFLEXIVE INTEGER); INSERT INTO Z_1FRIENDS VALUES (1, 1)",
            in: folder.store)
        let context = try open(try makeVersions(), Self.migrating)
        try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            #expect(book.value(forKey: "isbn") as? String == "none")
            #expect((book.value(forKey: "tags") as? NSSet)?.count == 1)
        }
        #expect(try plainSQL("SELECT Z_1FRIENDS FROM Z_1FRIENDS", in: folder.store) == ["1"])
    }

    @Test("A left join table makes room for a new one of its name if it is empty")
    func emptyJoinTable() throws {
        try makeStore()
        let model = try makeVersions(withSecondTags: true)
        for name in ["Z_1MARKS", "Z_2MARKED"] {
            try execute("CREATE TABLE \(name) (Z_9OLD INTEGER, Z_8OLD INTEGER)", in: folder.store)
        }
        let context = try open(model, Self.migrating)
        try context.performAndWait {
            let (book, tag) = (try #require(try context.all("Book").first), try #require(try context.all("Tag").first))
            book.setValue(NSSet(object: tag), forKey: "marks")
            try context.save()
        }
        let table = try plainSQL(
            "SELECT name FROM sqlite_master WHERE sql LIKE '%Z_1MARKED%' AND type = 'table'", in: folder.store)
        #expect(table.count == 1)
        #expect(try plainSQL("SELECT COUNT(*) FROM \(table.first ?? "")", in: folder.store) == ["1"])
    }

    @Test("A left join table with pairs whose name a new one needs stops the migration, which names it")
    func joinTableInTheWay() throws {
        try makeStore()
        let model = try makeVersions(withSecondTags: true)
        for name in ["Z_1MARKS", "Z_2MARKED"] {
            try execute(
                "CREATE TABLE \(name) (Z_9OLD INTEGER, Z_8OLD INTEGER); INSERT INTO \(name) VALUES (1, 2)",
                in: folder.store)
        }
        let error = #expect(throws: NSError.self) { try open(model, Self.migrating) }
        let told = "\(error?.userInfo ?? [:])"
        #expect(told.contains("whose name the new model needs"))
        #expect(try plainSQL("SELECT Z_8OLD FROM Z_1MARKS", in: folder.store) == ["2"])
        #expect(try plainSQL("SELECT ZTITLE FROM ZBOOK", in: folder.store) == ["Emma"])
    }

    @Test("A version that has the relationship of a join table is preferred to one that leaves the table")
    func exactVersion() throws {
        try makeStore()
        let package = folder.file("Library.xcdatamodeld")
        let plain = Library.entity(
            "Book",
            [Library.attribute("title", .stringAttributeType), Library.attribute("pages", .integer16AttributeType)])
        let without = NSManagedObjectModel()
        without.entities = [plain, Library.entity("Tag", [Library.attribute("name", .stringAttributeType)])]
        let model = try makeVersions()
        let version = package.appendingPathComponent("Library.xcdatamodel/contents")
        try SourceWriter.contents(of: ModelDocument(without)).write(to: version, atomically: true, encoding: .utf8)
        let context = try open(model, Self.migrating)
        #expect(
            try context.performAndWait { (try context.all("Book").first?.value(forKey: "tags") as? NSSet)?.count } == 1)
    }

    @Test("A version without the relationship of its join table is not supposed, where the new model has it")
    func versionInBetween() throws {
        try makeStore()
        func attributes() -> [NSAttributeDescription] {
            [Library.attribute("title", .stringAttributeType), Library.attribute("pages", .integer16AttributeType)]
        }
        let before = NSManagedObjectModel()
        before.entities = [
            Library.entity("Book", attributes()),
            Library.entity("Tag", [Library.attribute("name", .stringAttributeType)]),
        ]
        let after = Self.model(
            attributes() + [Library.attribute("isbn", .stringAttributeType)], others: [Library.entity("Author", [])])
        let package = folder.file("Library.xcdatamodeld")
        for (name, model) in [("Library", before), ("Library 3", after)] {
            let version = package.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            try SourceWriter.contents(of: ModelDocument(model)).write(
                to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        let model = try ModelPackage(at: package).model(version: "Library 3")
        let error = #expect(throws: NSError.self) { try open(model, Self.migrating) }
        #expect(error?.code == 134130)
        #expect(error?.localizedDescription.contains("the pairs in Z_1TAGS") == true)
        try execute("DELETE FROM Z_1TAGS", in: folder.store)
        let context = try open(model, Self.migrating)
        #expect(try context.performAndWait { try context.all("Book").count } == 1)
    }

    @Test("Where no version makes its tables, the error says that none was found")
    func unknown() throws {
        try makeStore()
        let model = Self.model([Library.attribute("name", .stringAttributeType)])
        let error = #expect(throws: NSError.self) { try open(model, Self.migrating) }
        #expect(error?.code == 134130)
    }
}
