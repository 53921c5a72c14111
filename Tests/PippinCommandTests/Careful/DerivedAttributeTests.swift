import CoreData
import Foundation
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Derived attributes whose triggers another tool has dropped or changed")
struct DerivedAttributeTests {
    private let store: SmallStore

    init() throws {
        store = try SmallStore(Self.addAttributes)
    }

    private static func addAttributes(to model: NSManagedObjectModel) {
        for (entity, name, type, expression) in [
            ("Author", "bookCount", NSAttributeType.integer64AttributeType, "books.@count"),
            ("Author", "pageSum", .integer64AttributeType, "books.pages.@sum"),
            ("Book", "writer", .stringAttributeType, "author.name"),
            ("Book", "key", .stringAttributeType, "canonical:(title)"),
        ] {
            let attribute = NSDerivedAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            attribute.derivationExpression = NSExpression(format: expression)
            model.entitiesByName[entity]?.properties.append(attribute)
        }
    }

    private var file: URL { store.folder.store }

    private func triggers(in file: URL) throws -> [String] {
        try plainSQL("SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name", in: file)
    }

    private func dropTriggers(_ condition: String = "1") throws {
        let names = try plainSQL(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND \(condition)", in: file)
        try #require(!names.isEmpty)
        try execute(names.map { "DROP TRIGGER \"\($0)\"" }.joined(separator: "; "), in: file)
    }

    private func importBook() throws {
        let author = try #require(
            try CommandRun("dump", store.path, "--json").objects()["Author"]?.first?["objectID"] as? String)
        let lines = store.folder.file("books.jsonl")
        try Data("{\"title\": \"Sanditon\", \"pages\": 100, \"author\": \"\(author)\"}\n".utf8).write(to: lines)
        let run = CommandRun("import", store.path, "Book", lines.path)
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test("A whole store passes the check")
    func whole() throws {
        #expect(CommandRun("check", store.path).output == "store.sqlite: nothing is wrong\n")
    }

    @Test("Missing triggers are named by check, and made anew letter by letter in a copy")
    func missing() throws {
        let all = try triggers(in: file)
        try dropTriggers("name LIKE '%bookCount%'")
        let copy = store.folder.file("mended.sqlite")
        let run = CommandRun("check", store.path, "--repair", copy.path)
        #expect(
            run.output.hasPrefix(
                """
                store.sqlite: one thing is wrong
                  structure  5 triggers of the derived attribute “Author.bookCount” are missing: \
                “Z_DA_ZBOOK_Author_bookCount_PARAMETER_INSERT”,
                """), "\(run.output)")
        #expect(run.output.contains("  “Author.bookCount”: 5 triggers of the derived attribute are made anew\n"))
        #expect(run.output.hasSuffix("mended.sqlite: nothing is wrong\n"), "\(run.output)")
        #expect(try triggers(in: copy) == all)
    }

    @Test("A trigger that does something else is named by check, and made anew in a copy")
    func changed() throws {
        let all = try triggers(in: file)
        let name = "Z_DA_ZBOOK_Author_bookCount_PARAMETER_INSERT"
        try execute(
            "DROP TRIGGER \(name); CREATE TRIGGER \(name) AFTER INSERT ON ZBOOK BEGIN SELECT 1; END", in: file)
        let copy = store.folder.file("mended.sqlite")
        let run = CommandRun("check", store.path, "--repair", copy.path)
        #expect(
            run.output.hasPrefix(
                """
                store.sqlite: one thing is wrong
                  structure  1 trigger of the derived attribute “Author.bookCount” is changed: “\(name)”

                """), "\(run.output)")
        #expect(run.output.hasSuffix("mended.sqlite: nothing is wrong\n"), "\(run.output)")
        #expect(try triggers(in: copy) == all)
    }

    @Test("A trigger with other blanks and quotation marks, as tools write it, is not changed")
    func spelling() throws {
        let name = "Z_DA_ZBOOK_Author_bookCount_PARAMETER_INSERT"
        let sql = try #require(try triggers(in: file).first { $0.contains(name) })
        try execute(
            "DROP TRIGGER \(name); \(sql.replacingOccurrences(of: "ZBOOK ", with: "\"ZBOOK\"\n"))", in: file)
        #expect(CommandRun("check", store.path).output == "store.sqlite: nothing is wrong\n")
    }

    @Test("An import makes missing triggers anew, so that it counts what it adds")
    func importing() throws {
        let all = try triggers(in: file)
        try dropTriggers()
        try importBook()
        #expect(try triggers(in: file) == all)
        #expect(try plainSQL("SELECT ZBOOKCOUNT, ZPAGESUM FROM ZAUTHOR", in: file) == ["3|586"])
        #expect(try plainSQL("SELECT ZWRITER, ZKEY FROM ZBOOK WHERE Z_PK = 4", in: file) == ["Jane Austen|sanditon"])
    }

    @Test("A program that opens the store for writing makes missing triggers anew; one that only reads it does not")
    func opening() throws {
        let all = try triggers(in: file)
        try dropTriggers()
        func open(isReadOnly: Bool) throws {
            let model = SmallStore.model()
            Self.addAttributes(to: model)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let opened = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: file,
                options: [NSReadOnlyPersistentStoreOption: isReadOnly])
            try coordinator.remove(opened)
        }
        try open(isReadOnly: true)
        #expect(try triggers(in: file) == [])
        try open(isReadOnly: false)
        #expect(try triggers(in: file) == all)
    }

    @Test("Values that are not what their expressions say are named by check, and computed anew in a copy")
    func values() throws {
        try dropTriggers()
        try execute(
            """
            UPDATE ZAUTHOR SET ZBOOKCOUNT = 1, ZPAGESUM = NULL; UPDATE ZBOOK SET ZWRITER = 'Jane' WHERE Z_PK = 3;
            UPDATE ZBOOK SET ZKEY = NULL
            """, in: file)
        let copy = store.folder.file("mended.sqlite")
        let run = CommandRun("check", store.path, "--repair", copy.path)
        for text in [
            "value      “Author.bookCount” of 1 object is not what its expression “books.@count” says: "
                + "Author/p1 (1 instead of 2)\n",
            "“Author.pageSum” of 1 object is not what its expression “books.pages.@sum” says: "
                + "Author/p1 (none instead of 486)\n",
            "“Book.writer” of 1 object is not what its expression “author.name” says: "
                + "Book/p3 (“Jane” instead of “Jane Austen”)\n",
            "“Book.key” of 3 objects is not what its expression “canonical:(title)” says: "
                + "Book/p1 (none instead of “emma”), Book/p2",
            "  “Author.bookCount”: 1 value is computed anew\n", "  “Book.key”: 3 values are computed anew\n",
        ] { #expect(run.output.contains(text), "\(run.output)") }
        #expect(run.output.hasSuffix("mended.sqlite: nothing is wrong\n"), "\(run.output)")
        #expect(try plainSQL("SELECT ZBOOKCOUNT, ZPAGESUM FROM ZAUTHOR", in: copy) == ["2|486"])
        #expect(
            try plainSQL("SELECT ZWRITER, ZKEY FROM ZBOOK ORDER BY Z_PK", in: copy)
                == ["Jane Austen|emma", "|persuasion", "Jane Austen|emma, \"again\""])
    }

    @Test("Core Data's own triggers and values are right", .enabled(if: Fixtures.areThere, StoreFixtures.skipped))
    func ofCoreData() throws {
        try StoreFixtures.withCopy(of: "books/SampleModel2_V1.sqlite") { url in
            func problems() -> String { CommandRun("check", url.path).output }
            #expect(!problems().contains("derived") && !problems().contains("expression"), "\(problems())")
            try execute(
                "DROP TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_DELETE; UPDATE ZBOOK SET ZPAGESCOUNT = 77", in: url)
            #expect(problems().contains("1 trigger of the derived attribute “Book.pagesCount” is missing"))
            #expect(problems().contains("(77 instead of "), "\(problems())")
        }
    }
}

@Suite("Required values that are missing")
struct MissingValueTests {
    private func makeStore() throws -> SmallStore {
        let store = try SmallStore { model in
            let book = model.entitiesByName["Book"]
            book?.attributesByName["pages"]?.isOptional = false
            model.entitiesByName["Author"]?.relationshipsByName["books"]?.deleteRule = .nullifyDeleteRule
        }
        try execute("UPDATE ZBOOK SET ZPAGES = NULL WHERE Z_PK > 1", in: store.folder.store)
        return store
    }

    @Test("are named by check with their entity, property, number and first rows")
    func check() throws {
        let store = try makeStore()
        let run = CommandRun("check", store.path)
        #expect(run.status == 3)
        #expect(
            run.output == """
                store.sqlite: one thing is wrong
                  value      “Book.pages” of 2 objects is missing, and required: Book/p2, Book/p3

                """)
    }

    @Test("are named by report in the same words, and refused by import")
    func others() throws {
        let store = try makeStore()
        let page = store.folder.file("report.html")
        #expect(CommandRun("report", store.path, "-o", page.path).status == 0)
        let text = try String(contentsOf: page, encoding: .utf8)
        #expect(text.contains("<li>“Book.pages” of 2 objects is missing, and required: Book/p2, Book/p3</li>"))
        let lines = store.folder.file("books.jsonl")
        #expect(CommandRun("export", store.path, "Book", "--output", lines.path).status == 0)
        let run = CommandRun("import", store.path, "Book", lines.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("line 2: "), "\(run.errors)")
        #expect(run.errors.contains("pages"), "\(run.errors)")
    }

    @Test("A required destination is missed, too, and named once in a report")
    func relationship() throws {
        let store = try SmallStore { model in
            model.entitiesByName["Book"]?.relationshipsByName["author"]?.isOptional = true
        }
        let required = store.folder.file("Required.xcdatamodel")
        #expect(CommandRun("model", "extract", store.path, "--output", required.path).status == 0)
        let contents = required.appendingPathComponent("contents")
        let source = try String(contentsOf: contents, encoding: .utf8)
        let book = try #require(source.range(of: "<relationship name=\"author\" optional=\"YES\""))
        try source.replacingCharacters(in: book, with: "<relationship name=\"author\"").write(
            to: contents, atomically: true, encoding: .utf8)
        try execute("DELETE FROM Z_MODELCACHE; UPDATE Z_METADATA SET Z_PLIST = NULL", in: store.folder.store)
        let run = CommandRun("check", store.path, "--model", required.path)
        #expect(
            run.output.contains("“Book.author” of 1 object is missing, and required: Book/p2"),
            "\(run.output) \(run.errors)")
    }

    @Test("A composite attribute is missing if all of its elements are")
    func composite() throws {
        let store = try SmallStore { model in
            let size = NSCompositeAttributeDescription()
            (size.name, size.isOptional) = ("size", false)
            size.elements = ["width", "height"].map { name in
                let element = NSAttributeDescription()
                (element.name, element.attributeType, element.isOptional) = (name, .integer32AttributeType, true)
                return element
            }
            size.defaultValue = ["width": 3]
            model.entitiesByName["Book"]?.properties.append(size)
        }
        let columns = try plainSQL(
            "SELECT name FROM pragma_table_info('ZBOOK') WHERE name LIKE '%WIDTH%'", in: store.folder.store)
        let width = try #require(columns.first)
        try execute(
            "UPDATE ZBOOK SET \(width) = 3; UPDATE ZBOOK SET \(width) = NULL WHERE Z_PK = 2", in: store.folder.store)
        let run = CommandRun("check", store.path)
        #expect(run.output.contains("“Book.size” of 1 object is missing, and required: Book/p2\n"), "\(run.output)")
    }
}
