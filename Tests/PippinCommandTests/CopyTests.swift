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
        "leaves nothing or a whole store at the place of a copy that a signal ends, and so does a mending",
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
}
