import CoreData
import StoreReading
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Stores that lack a part, and stores in other files")
struct OddStoreTests {
    private static let source = """
        <model>
            <entity name="Book">
                <attribute name="title" optional="YES" attributeType="String"/>
                <attribute name="isRead" optional="YES" attributeType="Boolean" defaultValueString="NO"/>
                <attribute name="pages" optional="YES" attributeType="Integer 32" defaultValueString="NO"/>
                <attribute name="weight" optional="YES" attributeType="Float" defaultValueString="0.1"/>
                <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books"/>
                <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="books"/>
            </entity>
            <entity name="Comic" parentEntity="Book"/>
            <entity name="Author">
                <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author"/>
            </entity>
            <entity name="Tag">
                <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="tags"/>
            </entity>
        </model>
        """

    /// Saves a book and a comic of one author, both with a tag, and gives the store and the model's path to the test.
    private func withStore(_ type: String = NSSQLiteStoreType, _ body: (URL, String) throws -> Void) throws {
        try inTestFolder { folder in
            let url = folder.appendingPathComponent("books.CDBStore")
            let contents = folder.appendingPathComponent("Books.xcdatamodel/contents")
            try FileManager.default.createDirectory(
                at: contents.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(Self.source.utf8).write(to: contents)
            let model = try ModelAssembler.model(SourceReader.document(of: Data(Self.source.utf8)))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                for entity in ["Book", "Comic"] {
                    let book = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                    book.setValue("A \(entity)", forKey: "title")
                    book.setValue(author, forKey: "author")
                    book.setValue(NSSet(object: tag), forKey: "tags")
                }
                try context.save()
            }
            try coordinator.remove(store)
            try body(url, contents.deletingLastPathComponent().path)
        }
    }

    @Test(
        "Without a copy of its model, a store is shown as its tables have it, by the entities that are numbered there",
        arguments: [
            ("DROP TABLE Z_MODELCACHE", "keeps no copy of its model"),
            ("DELETE FROM Z_MODELCACHE", "keeps no copy of its model"),
            ("UPDATE Z_MODELCACHE SET Z_CONTENT = NULL", "keeps no copy of its model"),
            ("UPDATE Z_MODELCACHE SET Z_CONTENT = substr(Z_CONTENT, 1, 300) || zeroblob(500)", "keeps is damaged"),
        ])
    func tables(sql: String, reason: String) throws {
        try withStore { store, model in
            try execute(sql, in: store)
            let info = CommandRun("info", store.path)
            #expect(info.status == 0)
            #expect(info.output.contains(reason))
            #expect(info.output.contains("Comic : Book   1 object\n"))
            let dump = CommandRun("dump", "--json", store.path)
            #expect(dump.status == 0)
            #expect(dump.errors.contains(reason))
            let objects = try dump.objects()
            #expect(objects["Book"]?.map { $0["ZTITLE"] as? String } == ["A Book"])
            #expect(objects["Comic"]?.map { $0["ZTITLE"] as? String } == ["A Comic"])
            #expect(objects.contains { $0.key.hasPrefix("Z_") && $0.value.count == 2 })
            #expect(CommandRun("dump", store.path).output.contains("ZTITLE"))
            let unknown = CommandRun("dump", store.path, "--entity", "Pamphlet")
            #expect(unknown.errors.contains("it has Author, Book, Comic, Tag"))
            // With a model it is a store like any other.
            let whole = CommandRun("dump", "--json", store.path, "--model", model)
            #expect(try whole.objects()["Comic"]?.map { $0["title"] as? String } == ["A Comic"])
        }
    }

    @Test("Without a copy of its model, all rows of a table are shown that only one entity has")
    func strangeNumbers() throws {
        try withStore { store, _ in
            try execute("DELETE FROM Z_MODELCACHE; UPDATE ZTAG SET Z_ENT = 99", in: store)
            #expect(try CommandRun("dump", "--json", store.path).objects()["Tag"]?.count == 1)
            #expect(CommandRun("info", store.path).output.contains("Tag   1 object\n"))
        }
    }

    @Test("A store without a model whose entities inherit over too many levels is shown without those levels")
    func levels() throws {
        try withStore { store, _ in
            try execute(
                """
                DELETE FROM Z_MODELCACHE;
                WITH RECURSIVE numbers(n) AS (SELECT 2001 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)
                INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX)
                SELECT 2000, 'Level0', Z_ENT, 0 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'
                UNION ALL SELECT n, 'Level' || (n - 2000), n - 1, 0 FROM numbers;
                """, in: store)
            let run = CommandRun("dump", "--json", store.path)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try run.objects()["Book"]?.map { $0["ZTITLE"] as? String } == ["A Book"])
            #expect(CommandRun("info", store.path).output.contains("Level50 : Level49"))
        }
    }

    @Test("A store without a model that has lost a table is shown without the entities in it, by dump and by query")
    func lostTable() throws {
        try withStore { store, _ in
            try execute("DELETE FROM Z_MODELCACHE; DROP TABLE ZBOOK", in: store)
            let objects = try CommandRun("dump", "--json", store.path).objects()
            #expect(objects["Tag"]?.count == 1)
            #expect(objects["Comic"] == nil)
            let run = CommandRun("query", store.path, "Tag", "--format", "jsonl")
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.split(separator: "\n").count == 1)
        }
    }

    @Test(
        "Without metadata, a store says so, and opens with its copy of the model or with a model",
        arguments: [
            ("UPDATE Z_METADATA SET Z_PLIST = NULL", "Z_METADATA.Z_PLIST is empty"),
            ("DELETE FROM Z_METADATA", "the table Z_METADATA is empty"),
            ("UPDATE Z_METADATA SET Z_PLIST = substr(Z_PLIST, 1, 40)", "Z_METADATA.Z_PLIST is damaged"),
        ])
    func metadata(sql: String, reason: String) throws {
        try withStore { store, model in
            try execute(sql, in: store)
            for arguments in [[], ["--model", model]] {
                let info = CommandRun(arguments: ["info", store.path] + arguments)
                #expect(info.status == 0)
                #expect(info.output.contains(reason))
                let objects = try CommandRun(arguments: ["dump", "--json", store.path] + arguments).objects()
                #expect(objects["Book"]?.map { $0["title"] as? String } == ["A Book"])
            }
            try execute("DROP TABLE Z_MODELCACHE", in: store)
            #expect(try CommandRun("dump", "--json", store.path).objects()["Tag"]?.count == 1)
            let objects = try CommandRun("dump", "--json", store.path, "--model", model).objects()
            #expect(objects["Book"]?.map { $0["title"] as? String } == ["A Book"])
        }
    }

    @Test("A program that opens a store without metadata is told so, and may ignore the version")
    func opening() throws {
        try withStore { store, model in
            try execute("UPDATE Z_METADATA SET Z_PLIST = NULL", in: store)
            let model = try ModelPackage(at: URL(fileURLWithPath: model)).model()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let error = #expect(throws: NSError.self) {
                try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: store)
            }
            #expect(error?.localizedDescription.contains("has no version hashes in its metadata") == true)
            _ = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: store,
                options: [NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true])
        }
    }

    @Test(
        "XML and binary stores are shown, as the file has them or by a model",
        arguments: [NSXMLStoreType, NSBinaryStoreType])
    func documents(type: String) throws {
        try withStore(type) { store, model in
            let info = CommandRun("info", store.path)
            #expect(info.status == 0)
            #expect(info.output.contains("keeps no copy of its model"))
            let raw = try CommandRun("dump", "--json", store.path).objects()
            #expect(raw.values.map(\.count).sorted() == [1, 1, 1, 1])
            #expect(CommandRun("dump", store.path).output.contains("\"A Comic\""))
            let known = CommandRun("info", store.path, "--model", model)
            #expect(known.status == 0)
            #expect(known.output.contains("Comic : Book"))
            let objects = try CommandRun("dump", "--json", store.path, "--model", model).objects()
            #expect(objects["Comic"]?.map { $0["title"] as? String } == ["A Comic"])
            #expect(objects["Author"]?.compactMap { ($0["books"] as? [Any])?.count } == [2])
        }
    }

    @Test("XML and binary stores are migrated, too", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func migratedDocuments(type: String) throws {
        try withStore(type) { store, model in
            let package = store.deletingLastPathComponent().appendingPathComponent("Books.xcdatamodeld")
            let renamed = Self.source.replacing("name=\"title\"", with: "name=\"heading\" elementID=\"title\"")
            for (name, source) in [("1", Self.source), ("2", renamed)] {
                let version = package.appendingPathComponent("\(name).xcdatamodel")
                try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
                try Data(source.utf8).write(to: version.appendingPathComponent("contents"))
            }
            let current = try PropertyListSerialization.data(
                fromPropertyList: ["_XCCurrentVersionName": "2.xcdatamodel"], format: .xml, options: 0)
            try current.write(to: package.appendingPathComponent(".xccurrentversion"))
            let command = ["migrate", store.path, "--to", package.path, "--version", "2"]
            let before = try Data(contentsOf: store)
            #expect(CommandRun(arguments: command + ["--dry-run"]).output.contains("object by object"))
            #expect(try Data(contentsOf: store) == before)
            let run = CommandRun(arguments: command)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.hasSuffix("Done.\n"))
            #expect(CommandRun(arguments: command).output.contains("fits the model already"))
            let known = ["dump", "--json", store.path, "--model", package.appendingPathComponent("2.xcdatamodel").path]
            let objects = try CommandRun(arguments: known).objects()
            #expect(objects["Comic"]?.map { $0["heading"] as? String } == ["A Comic"])
            #expect(objects["Author"]?.compactMap { ($0["books"] as? [Any])?.count } == [2])
            // The old version no longer fits, and what is wrong is not said to be damage of a database.
            let back = CommandRun("migrate", store.path, "--to", model)
            #expect(back.status == 1)
            #expect(!back.errors.contains("SQLite"))
        }
    }

    @Test("Metadata that are an XML property list, as Mac OS X 10.4 wrote them, are not damaged")
    func metadataInXML() throws {
        try withStore { store, _ in
            let list =
                "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>colour</key><string>red</string></dict></plist>"
            try execute("UPDATE Z_METADATA SET Z_PLIST = CAST('\(list)' AS BLOB)", in: store)
            let info = CommandRun("info", store.path)
            #expect(info.status == 0)
            #expect(!info.output.contains("damaged"))
        }
    }

    @Test("References to objects that are gone are shown and marked, to-one and to-many")
    func dangling() throws {
        try withStore { store, _ in
            try execute("DELETE FROM ZAUTHOR", in: store)
            try execute("DELETE FROM ZTAG", in: store)
            let text = CommandRun("dump", store.path).output
            #expect(text.contains("→ Author/p1 (missing)"))
            #expect(text.contains("→ Tag/p1 (missing)"))
            let book = try #require(try CommandRun("dump", "--json", store.path).objects()["Book"]?.first)
            #expect(book["author"] is NSNull)
            #expect((book["tags"] as? [String])?.isEmpty == true)
            let marks = try #require(book["$marks"] as? [String: [String: Any]])
            #expect((marks["author"]?["missing"] as? String)?.hasSuffix("/Author/p1") == true)
            #expect((marks["tags"]?["missing"] as? [String])?.map { $0.hasSuffix("/Tag/p1") } == [true])
        }
    }

    @Test("A source model and the store that was made with it say the same, whichever way defaults are written")
    func sameModels() throws {
        try withStore { store, model in
            let run = CommandRun("model", "diff", model, store.path)
            #expect(run.output.contains("The models say the same."))
            #expect(CommandRun("model", "diff", store.path, model).output.contains("The models say the same."))
        }
    }

    @Test("A store that cannot be opened is never said to have nothing to do")
    func migrateWhatCannotBeOpened() throws {
        try withStore { store, model in
            try execute("ALTER TABLE ZBOOK DROP COLUMN ZTITLE", in: store)
            let run = CommandRun("migrate", store.path, "--to", model)
            #expect(run.status == 1)
            #expect(!run.output.contains("nothing to do"))
            #expect(run.errors.contains("cannot be opened with it"))
            #expect(run.errors.contains("ZTITLE"))
        }
    }
}

@Suite("The kinds of stores")
struct StoreKindTests {
    @Test("Files are told by how they begin, whatever they are called")
    func kinds() {
        #expect(StoreKind(start: Data("SQLite format 3\0…".utf8)) == .sqlite)
        #expect(StoreKind(start: Data("bplist00…".utf8)) == .binary)
        #expect(StoreKind(start: Data("<?xml version=\"1.0\"?>\n<!DOCTYPE database SYSTEM …".utf8)) == .xml)
        #expect(StoreKind(start: Data("\u{FEFF} <?xml version=\"1.0\"?><database>".utf8)) == .xml)
        #expect(StoreKind(start: Data("<?xml version=\"1.0\"?><plist>".utf8)) == nil)
        #expect(StoreKind(start: Data("hello".utf8)) == nil)
        #expect(StoreKind(start: Data([0xFF, 0x00, 0x3C])) == nil)
    }

    @Test("The header of a database tells how much of it is missing")
    func header() {
        var header = [UInt8](repeating: 0, count: 100)
        (header[16], header[31]) = (0x10, 3)
        #expect(SQLiteHeader.missingBytes(header, fileSize: 3 * 4096) == nil)
        #expect(SQLiteHeader.missingBytes(header, fileSize: 3 * 4096 - 10) == 10)
        // A number of pages that is out of date says nothing.
        header[27] = 1
        #expect(SQLiteHeader.missingBytes(header, fileSize: 4096) == nil)
        #expect(SQLiteHeader.missingBytes([1, 2], fileSize: 4096) == nil)
    }
}
