import ModelFiles
import TestSupport
import Testing

@testable import CoreData
@testable import PippinCommand

@Suite("pippin copy from file to file")
struct CopyTests {
    private let small: SmallStore
    private let copy: URL

    init() throws {
        small = try SmallStore()
        copy = small.folder.file("copy.sqlite")
    }

    /// A package with another version of the model as its current one.
    private func package() throws -> URL {
        let folder = small.folder.file("Books.momd")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let later = SmallStore.model()
        later.entitiesByName["Book"]?.properties.removeAll { $0.name == "pages" }
        try SourceModelCompiler.compiledData(of: later).write(to: folder.appendingPathComponent("B.mom"))
        try SourceModelCompiler.compiledData(of: SmallStore.model()).write(to: folder.appendingPathComponent("A.mom"))
        let info: [String: Any] = ["NSManagedObjectModel_CurrentVersionName": "B"]
        try PropertyListSerialization.data(fromPropertyList: info, format: .xml, options: 0)
            .write(to: folder.appendingPathComponent("VersionInfo.plist"))
        return folder
    }

    private func titles(of path: String) throws -> [String] {
        try #require(CommandRun("dump", path, "--json").objects()["Book"]).compactMap { $0["title"] as? String }
    }

    @Test("needs no other program")
    func file() throws {
        let run = CommandRun("copy", small.path, copy.path)
        #expect(run.output == "Copied to “\(copy.path)”.\n", "\(run.errors)")
        #expect(try titles(of: copy.path) == titles(of: small.path))
        #expect(CommandRun("check", copy.path).status == 0)
    }

    @Test("leaves alone what is there")
    func existing() throws {
        try Data("text".utf8).write(to: copy)
        for target in [copy.path, small.path] {
            let run = CommandRun("copy", small.path, target)
            #expect(run.status == 1)
            #expect(run.errors == "pippin: “\(target)” is there already\n")
        }
        #expect(try Data(contentsOf: copy) == Data("text".utf8))
    }

    @Test("names the values that are read as something else than what the store has")
    func misread() throws {
        try execute("UPDATE ZBOOK SET ZPAGES = 'many' WHERE Z_PK = 2", in: small.folder.store)
        let run = CommandRun("copy", small.path, copy.path)
        #expect(run.status == 0)
        let text = "“Book.pages” of 1 object is not an integer: Book/p2 (text); the copy has what they are read as"
        #expect(run.errors == "pippin: warning: \(text)\n")
    }

    @Test("names the table of a row that is of no entity, and makes no copy")
    func stranger() throws {
        let other = try SmallStore { model in
            let novel = NSEntityDescription()
            novel.name = "Novel"
            model.entitiesByName["Book"]?.subentities = [novel]
            model.entities.append(novel)
        }
        try execute("UPDATE ZBOOK SET Z_ENT = 99 WHERE Z_PK = 2", in: other.folder.store)
        let run = CommandRun("copy", other.path, copy.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("1 row of ZBOOK is of an entity that the model does not have: Z_PK 2"))
        #expect(!FileManager.default.fileExists(atPath: copy.path))
    }

    @Test("reads a store without a copy of its model with the version of the named one that fits")
    func model() throws {
        try execute("DROP TABLE Z_MODELCACHE", in: small.folder.store)
        #expect(CommandRun("copy", small.path, copy.path).status == 1)
        #expect(!FileManager.default.fileExists(atPath: copy.path))
        let run = CommandRun("copy", small.path, copy.path, "--model", try package().path)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try titles(of: copy.path) == ["Emma", "Persuasion", "Emma, \"again\""])
    }

    @Test("makes an SQLite store of an XML or binary one", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func document(type: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SmallStore.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: small.folder.store)
        let document = small.folder.file("books.document")
        try coordinator.remove(coordinator.migratePersistentStore(store, to: document, options: nil, withType: type))
        let run = CommandRun("copy", document.path, copy.path, "--model", try package().path)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try titles(of: copy.path).sorted() == ["Emma", "Emma, \"again\"", "Persuasion"])
        #expect(CommandRun("check", copy.path).status == 0)
    }

    @Test("takes a file with an equals sign in its name, given with its folder")
    func equalsSign() throws {
        let target = small.folder.file("a=b.sqlite")
        #expect(CommandRun("copy", small.path, target.path).status == 0)
        #expect(try titles(of: target.path).count == 3)
    }

    @Test(
        "leaves nothing or a whole store at the place of a copy that a signal ends, and so does a mending", .ownThread,
        arguments: ["copy", "check"], ["TERM", "KILL"])
    func ended(command: String, signal: String) throws {
        try execute(
            """
            WITH RECURSIVE numbers(n) AS (SELECT 4 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
            INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE)
            SELECT n, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'), 1, printf('%.*c', 500, 'x') FROM numbers;
            UPDATE Z_PRIMARYKEY SET Z_MAX = 20000 WHERE Z_NAME = 'Book'
            """, in: small.folder.store)
        let option = command == "check" ? "--repair" : ""
        _ = try shell(
            """
            "$PIPPIN" \(command) '\(small.path)' \(option) '\(copy.path)' > /dev/null & id=$!
            while kill -0 $id && ! compgen -G '\(small.folder.url.path)/.copy*' > /dev/null; do :; done
            kill -\(signal) $id; wait $id
            """, temporary: small.folder.url)
        // The store may have got to its place before the signal ends the program.
        if FileManager.default.fileExists(atPath: copy.path) {
            #expect(try plainNumber("SELECT COUNT(*) FROM ZBOOK", in: copy) == 20_000)
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.path + suffix) }
        }
        let rest = try names(in: small.folder.url).filter { $0.contains("copy.") }
        #expect(signal == "KILL" || rest.isEmpty, "\(rest)")
        // The next one clears up.
        #expect(CommandRun("copy", small.path, copy.path).status == 0)
        #expect(try names(in: small.folder.url).filter { $0.contains("copy.") } == ["copy.sqlite"])
        #expect(try plainNumber("SELECT COUNT(*) FROM ZBOOK", in: copy) == 20_000)
    }

    @Test("brings the files of large values along, also to where another store has its own")
    func largeValues() throws {
        let store = try SmallStore { model in
            let cover = NSAttributeDescription()
            (cover.name, cover.attributeType, cover.isOptional) = ("cover", .binaryDataAttributeType, true)
            cover.allowsExternalBinaryDataStorage = true
            model.entitiesByName["Book"]?.properties.append(cover)
        }
        let rows = store.folder.file("rows.jsonl")
        let bytes = Data(repeating: 7, count: 200_000)
        try Data("{\"title\": \"Large\", \"cover\": \"\(bytes.base64EncodedString())\"}\n".utf8).write(to: rows)
        #expect(CommandRun("import", store.path, "Book", rows.path).status == 0)
        for name in ["copy.sqlite", "copy.db", "store.db"] {
            let target = store.folder.file(name)
            let run = CommandRun("copy", store.path, target.path)
            #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
            let object = try #require(CommandRun("dump", target.path, "--json").objects()["Book"]?.last)
            #expect(object["cover"] as? String == bytes.base64EncodedString())
            #expect(CommandRun("check", target.path).status == 0)
        }
        #expect(CommandRun("check", store.path).status == 0)
        #expect(
            try names(in: store.folder.url).filter { $0.hasSuffix("SUPPORT") } == [".copy_SUPPORT", ".store_SUPPORT"])
    }

    @Test("names the place where nothing can be made")
    func noFolder() throws {
        let target = small.folder.file("nowhere/copy.sqlite")
        let run = CommandRun("copy", small.path, target.path)
        #expect(run.status == 1)
        #expect(run.errors == "pippin: “\(target.path)” cannot be made: No such file or directory\n")
    }

    @Test("refuses a place beside which there is the log of a store that is gone")
    func foreignLog() throws {
        try Data("a log".utf8).write(to: small.folder.file("copy.sqlite-wal"))
        let run = CommandRun("copy", small.path, copy.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("copy.sqlite-wal” is there already. It belongs to a store that is gone"))
        #expect(!FileManager.default.fileExists(atPath: copy.path))
    }

    @Test("makes a file that its owner can write of a store that nobody may write, and so does a mending")
    func readOnly() throws {
        #expect(chmod(small.path, 0o440) == 0)
        #expect(CommandRun("copy", small.path, copy.path).status == 0)
        #expect(try mode(of: copy) == 0o640)
        let mended = small.folder.file("mended.sqlite")
        #expect(CommandRun("check", small.path, "--repair", mended.path).status == 0)
        #expect(try mode(of: mended) == 0o640)
    }

    // MARK: As the store has it

    /// An archive of a text that no archiver writes: there are four bytes more before the offsets of its objects.
    private static func oddArchive(of text: String) throws -> Data {
        var bytes = try NSKeyedArchiver.archivedData(withRootObject: text as NSString, requiringSecureCoding: true)
        let place = bytes.suffix(8).reduce(0) { $0 << 8 | Int($1) }
        bytes.insert(contentsOf: [0, 0, 0, 0], at: place)
        let moved = UInt64(place + 4)
        bytes.replaceSubrange((bytes.count - 8)..., with: (0..<8).reversed().map { UInt8(moved >> ($0 * 8) & 0xFF) })
        return bytes
    }

    /// A store with transformable values: an archive, another one that may be kept outside, and bytes that are none.
    private static func archives() throws -> SmallStore {
        let store = try SmallStore(addTransformables)
        let archive = try oddArchive(of: "x").map { String(format: "%02X", $0) }.joined()
        try execute(
            "UPDATE ZBOOK SET ZTAGS = x'\(archive)', ZCOVER = x'01\(archive)', ZOTHER = x'FFEE'",
            in: store.folder.store)
        return store
    }

    private static func addTransformables(to model: NSManagedObjectModel) {
        for name in ["tags", "cover", "other"] {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .transformableAttributeType, true)
            attribute.allowsExternalBinaryDataStorage = name == "cover"
            model.entitiesByName["Book"]?.properties.append(attribute)
        }
    }

    private static let archiveBytes = "SELECT Z_PK, ZTAGS, ZCOVER, ZOTHER FROM ZBOOK ORDER BY Z_PK"

    @Test("keeps the bytes of transformable values, whether or not it can read them")
    func transformables() throws {
        let store = try Self.archives()
        let copy = store.folder.file("copy.sqlite")
        let run = CommandRun("copy", store.path, copy.path)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(try plainSQL(Self.archiveBytes, in: copy) == plainSQL(Self.archiveBytes, in: store.folder.store))
        let model = SmallStore.model()
        Self.addTransformables(to: model)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: copy)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
            #expect(books.map { $0.value(forKey: "tags") as? String } == ["x", "x", "x"])
        }
    }

    @Test("keeps the bytes of transformable values that an XML store has")
    func documentTransformables() throws {
        let store = try Self.archives()
        let model = SmallStore.model()
        Self.addTransformables(to: model)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let source = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store.folder.store,
            options: ["PippinIsCopied": true])
        let document = store.folder.file("books.xml")
        try coordinator.remove(
            coordinator.migratePersistentStore(source, to: document, options: nil, withType: NSXMLStoreType))
        let copy = store.folder.file("copy.sqlite")
        let compiled = store.folder.file("Books.mom")
        try SourceModelCompiler.compiledData(of: model).write(to: compiled)
        let run = CommandRun("copy", document.path, copy.path, "--model", compiled.path)
        #expect(run.status == 0, "\(run.errors)")
        let order = Self.archiveBytes.replacingOccurrences(of: "Z_PK, ", with: "")
        #expect(try plainSQL(order, in: copy) == plainSQL(order, in: store.folder.store))
    }

    /// The statements of a store's indexes; those of constraints, or the others.
    private static func indexes(ofConstraints: Bool) -> String {
        """
        SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name LIKE 'Z%'
        AND sql LIKE '\(ofConstraints ? "CREATE UNIQUE INDEX%" : "CREATE INDEX%")' ORDER BY sql
        """
    }

    @Test("makes no index that the store does not have, except for those of constraints")
    func indexes() throws {
        let store = try SmallStore { model in
            guard let book = model.entitiesByName["Book"], let pages = book.attributesByName["pages"] else { return }
            // As in Apple's stores: only the copy of the model says that the attribute is indexed.
            pages.isIndexed = true
            let element = NSFetchIndexElementDescription(property: pages, collationType: .binary)
            book.indexes = [NSFetchIndexDescription(name: "byPages", elements: [element])]
        }
        try execute("DROP INDEX Z_Book_pages", in: store.folder.store)
        let before = try plainSQL(Self.indexes(ofConstraints: false), in: store.folder.store)
        let constraints = try plainSQL(Self.indexes(ofConstraints: true), in: store.folder.store)
        #expect(before.contains { $0.contains("Z_Book_byPages") } && constraints.count == 1)
        try execute("DROP INDEX Z_Author_UNIQUE_name", in: store.folder.store)
        let copy = store.folder.file("copy.sqlite")
        #expect(CommandRun("copy", store.path, copy.path).status == 0)
        #expect(try plainSQL(Self.indexes(ofConstraints: false), in: copy) == before)
        #expect(try plainSQL(Self.indexes(ofConstraints: true), in: copy) == constraints)
    }

    @Test(
        "has every byte and every index of a store that Apple's Core Data or SwiftData made",
        .enabled(if: Fixtures.areThere, StoreFixtures.skipped),
        arguments: StoreFixtures.stores + ["swiftdata-scheduler/scheduler.sqlite"])
    func apples(name: String) throws {
        try StoreFixtures.withCopy(of: name) { store in
            let run = CommandRun("copy", store.path, copy.path)
            #expect(run.status == 0, "\(run.errors)")
            let indexes = try plainSQL(Self.indexes(ofConstraints: false), in: copy)
            #expect(try indexes == plainSQL(Self.indexes(ofConstraints: false), in: store))
            // Core Data has made one of the constraints as a word in its column's declaration.
            let constraints = try plainSQL(Self.indexes(ofConstraints: true), in: copy)
            #expect(try Set(constraints).isSuperset(of: plainSQL(Self.indexes(ofConstraints: true), in: store)))
            let blobs = try plainSQL(
                """
                SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
                WHERE m.type = 'table' AND m.name LIKE 'Z%' AND m.name NOT LIKE 'Z\\_%' ESCAPE '\\' AND c.type = 'BLOB'
                """, in: store
            ).map { $0.split(separator: "|").map(String.init) }
            for blob in blobs {
                let bytes = "SELECT Z_PK, \(blob[1]) FROM \(blob[0]) ORDER BY Z_PK"
                #expect(try plainSQL(bytes, in: copy) == plainSQL(bytes, in: store), "\(blob)")
            }
        }
    }

    @Test("has what can be read of a store that lacks a column, and names the rest")
    func missingColumn() throws {
        try execute("ALTER TABLE ZBOOK DROP COLUMN ZPAGES", in: small.folder.store)
        let run = CommandRun("copy", small.path, copy.path)
        #expect(run.status == 0)
        let text = "the store has no column ZBOOK.ZPAGES, which “Book.pages” needs; the copy lacks what should be there"
        #expect(run.errors == "pippin: warning: \(text)\n")
        let rows = "SELECT Z_PK, ZTITLE, ZAUTHOR FROM ZBOOK ORDER BY Z_PK"
        #expect(try plainSQL(rows, in: copy) == plainSQL(rows, in: small.folder.store))
        #expect(try plainNumber("SELECT COUNT(ZPAGES) FROM ZBOOK", in: copy) == 0)
        #expect(CommandRun("check", copy.path).status == 0)
    }

    @Test("has what can be read of a store that lacks a relationship's column, or a table, and names both ends")
    func missingRelationship() throws {
        try execute(
            "DROP INDEX ZBOOK_ZAUTHOR_INDEX; ALTER TABLE ZBOOK DROP COLUMN ZAUTHOR", in: small.folder.store)
        let run = CommandRun("copy", small.path, copy.path)
        #expect(run.status == 0)
        #expect(run.errors.contains("“Book.author” needs") && run.errors.contains("“Author.books” needs"))
        #expect(try plainSQL("SELECT ZTITLE FROM ZBOOK WHERE ZPAGES = 249", in: copy) == ["Persuasion"])
        #expect(try plainSQL("SELECT ZNAME FROM ZAUTHOR", in: copy) == ["Jane Austen"])
        try execute("DROP TABLE ZAUTHOR", in: small.folder.store)
        let second = small.folder.file("second.sqlite")
        let rest = CommandRun("copy", small.path, second.path)
        #expect(rest.status == 0, "\(rest.errors)")
        #expect(rest.errors.contains("the store has no table ZAUTHOR, which “Author” needs"))
        #expect(try plainNumber("SELECT COUNT(*) FROM ZBOOK", in: second) == 3)
        #expect(try plainNumber("SELECT COUNT(*) FROM ZAUTHOR", in: second) == 0)
    }

    @Test("gives the order columns of an earlier version of Pippin the names of Core Data, as a migration does")
    func orderColumns() throws {
        // An unordered relationship by which the keys are numbered, and an ordered one.
        func model(next: Bool) -> NSManagedObjectModel {
            let model = SmallStore.model()
            let base = NSEntityDescription()
            base.name = "Part"
            let parts = ["Cover", "Page"].map { name in
                let part = NSEntityDescription()
                part.name = name
                let (book, all) = (NSRelationshipDescription(), NSRelationshipDescription())
                (book.name, book.destinationEntity, book.maxCount) = ("book", model.entitiesByName["Book"], 1)
                (all.name, all.destinationEntity, all.isOrdered) = (name.lowercased() + "Parts", part, name == "Page")
                (book.inverseRelationship, all.inverseRelationship) = (all, book)
                part.properties = [book]
                model.entitiesByName["Book"]?.properties.append(all)
                return part
            }
            base.subentities = parts
            if next { model.entitiesByName["Author"]?.properties.removeAll { $0.name == "name" } }
            if next { model.entitiesByName["Author"]?.uniquenessConstraints = [] }
            model.entities += [base] + parts
            return model
        }
        let store = small.folder.file("parts.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(next: false))
        try coordinator.remove(
            coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: store))
        try execute(
            """
            INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT) SELECT 1, Z_ENT, 1 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book';
            INSERT INTO ZPART (Z_PK, Z_ENT, Z_OPT, ZBOOK1, Z_FOK_BOOK)
                SELECT n.column1, Z_ENT, 1, 1, 9 - n.column1 FROM Z_PRIMARYKEY, (VALUES (4), (5), (6)) n
                WHERE Z_NAME = 'Page';
            UPDATE Z_PRIMARYKEY SET Z_MAX = 6 WHERE Z_NAME IN ('Book', 'Part');
            ALTER TABLE ZPART RENAME COLUMN Z_FOK_BOOK TO Z_FOK_BOOK1
            """, in: store)
        let check = CommandRun("check", store.path)
        #expect(check.status == 0, "\(check.output)")
        #expect(CommandRun("copy", store.path, copy.path).status == 0)
        let order = "SELECT Z_PK FROM ZPART ORDER BY Z_FOK_BOOK"
        #expect(try plainSQL(order, in: copy) == ["6", "5", "4"])
        let compiled = small.folder.file("Next.mom")
        try SourceModelCompiler.compiledData(of: model(next: true)).write(to: compiled)
        let run = CommandRun("migrate", store.path, "--to", compiled.path)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try plainSQL(order, in: store) == ["6", "5", "4"])
        let columns = "SELECT name FROM pragma_table_info('ZPART') WHERE name LIKE '%FOK%'"
        #expect(try plainSQL(columns, in: store) == ["Z_FOK_BOOK"])
    }
}
