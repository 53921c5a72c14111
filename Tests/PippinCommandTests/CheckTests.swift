import CoreData
import SQLiteConnection
import SQLiteEngine
import TestSupport
import Testing

@testable import PippinCommand

@Suite("pippin check and report")
struct CheckTests {
    @Test("A store that is whole passes")
    func whole() throws {
        let store = try SmallStore()
        let run = CommandRun("check", store.path)
        #expect(run.status == 0)
        #expect(run.output == "store.sqlite: nothing is wrong\n")
    }

    @Test("References that lead nowhere, counters and values that are not unique are found, and a copy is mended")
    func damage() throws {
        let store = try SmallStore()
        try execute(
            "UPDATE ZBOOK SET ZAUTHOR = 77 WHERE Z_PK = 1; UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_NAME = 'Book'",
            in: store.folder.store)
        let before = try Data(contentsOf: store.folder.store)
        let copy = store.folder.file("mended.sqlite")
        let run = CommandRun("check", store.path, "--repair", copy.path)
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("store.sqlite: 2 things are wrong\n"))
        #expect(run.output.contains("“Book.author” of 1 object leads to “Author” objects that are gone: Book/p1"))
        #expect(run.output.contains("the counter of “Book” is 2, and there is an object with the number 3"))
        #expect(run.output.hasSuffix("mended.sqlite: nothing is wrong\n"))
        #expect(try plainSQL("SELECT ZAUTHOR FROM ZBOOK ORDER BY Z_PK", in: copy) == ["", "", "1"])
        #expect(try plainNumber("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'", in: copy) == 3)
        #expect(try Data(contentsOf: store.folder.store) == before, "the store stays as it is")
        #expect(CommandRun("check", store.path).status == 3)
        #expect(CommandRun("check", store.path, "--repair", copy.path).errors.contains("is there already"))
    }

    @Test("A store whose triggers keep a count, and whose index has a collation of Core Data's, is mended with them")
    func derived() throws {
        let store = try SmallStore { model in
            let count = NSDerivedAttributeDescription()
            (count.name, count.attributeType, count.isOptional) = ("bookCount", .integer64AttributeType, true)
            count.derivationExpression = NSExpression(format: "books.@count")
            model.entitiesByName["Author"]?.properties.append(count)
        }
        let connection = try Connection(path: store.path, mode: .readWrite)
        try StoreFunctions.register(on: connection, derived: DerivedValues())
        try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_NAME = 'Book'")
        try connection.execute("UPDATE ZBOOK SET ZAUTHOR = 77 WHERE Z_PK = 1")
        try connection.execute("CREATE INDEX TITLES ON ZBOOK (ZTITLE COLLATE NSCollateLocaleSensitive)")
        let copy = store.folder.file("mended.sqlite")
        let run = CommandRun("check", store.path, "--repair", copy.path)
        #expect(run.errors.isEmpty, "\(run.errors)")
        #expect(run.output.hasSuffix("mended.sqlite: nothing is wrong\n"), "\(run.output)")
        #expect(try plainNumber("SELECT ZBOOKCOUNT FROM ZAUTHOR", in: copy) == 1)
    }

    @Test("A file that lacks a part of its last page, which SQLite reads as zeros, is found to be cut off")
    func cutOff() throws {
        let store = try SmallStore()
        try execute(
            "CREATE TABLE OTHER (BYTES BLOB); INSERT INTO OTHER VALUES (zeroblob(2000))", in: store.folder.store)
        #expect(CommandRun("check", store.path).status == 0)
        let bytes = try Data(contentsOf: store.folder.store)
        try bytes.dropLast(100).write(to: store.folder.store)
        let run = CommandRun("check", store.path)
        #expect(run.status == 3)
        #expect(run.output.contains("the file is cut off: 100 bytes are missing at its end"), "\(run.output)")
    }

    @Test("What can be read of a table with a damaged page is copied, and the rest is named", arguments: [false, true])
    func damagedPage(isCutOff: Bool) throws {
        let store = try SmallStore()
        try execute(
            """
            WITH RECURSIVE numbers(n) AS (SELECT 4 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
            INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE)
            SELECT n, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'), 1, printf('%d%.*c', n, 500, 'x') FROM numbers;
            UPDATE Z_PRIMARYKEY SET Z_MAX = 1000 WHERE Z_NAME = 'Book'
            """, in: store.folder.store)
        var bytes = try Data(contentsOf: store.folder.store)
        if isCutOff {
            bytes.removeLast(20_000)
        } else {
            let row = try #require(bytes.firstRange(of: Data("500x".utf8)))
            bytes[row.lowerBound / 4096 * 4096] = 0xFF
        }
        try bytes.write(to: store.folder.store)
        let copy = store.folder.file("mended.sqlite")
        let run = CommandRun("check", store.path, "--repair", copy.path)
        #expect(run.errors.isEmpty, "\(run.errors)")
        #expect(run.output.contains("of the table “ZBOOK”, the rows from "), "\(run.output)")
        #expect(run.output.hasSuffix("mended.sqlite: nothing is wrong\n"), "\(run.output)")
        let count = try #require(try plainNumber("SELECT COUNT(*) FROM ZBOOK", in: copy))
        #expect((900..<1000).contains(count))
        #expect(try plainNumber("SELECT COUNT(*) FROM ZBOOK WHERE Z_PK = 500", in: copy) == (isCutOff ? 1 : 0))
        #expect(try plainNumber("SELECT COUNT(*) FROM ZAUTHOR", in: copy) == 1)
    }

    @Test("A damaged copy of the model is found, whether or not a model is given")
    func damagedModelCopy() throws {
        let store = try SmallStore()
        let model = store.folder.file("Model.xcdatamodel").path
        #expect(CommandRun("model", "extract", store.path, "--output", model).status == 0)
        let sql = "UPDATE Z_MODELCACHE SET Z_CONTENT = substr(Z_CONTENT, 1, 300) || zeroblob(500)"
        try execute(sql, in: store.folder.store)
        for options in [[], ["--model", model]] {
            let run = CommandRun(arguments: ["check", store.path] + options)
            #expect(run.status == 3)
            #expect(run.output.contains("one thing is wrong\n"), "\(run.output)")
            #expect(run.output.contains("the copy of its model that the store keeps (Z_MODELCACHE) is damaged ("))
        }
    }

    @Test("A second copy of the model is found, and the store is read by the one of its version")
    func secondModelCopy() throws {
        let store = try SmallStore()
        let other = NSManagedObjectModel()
        let entity = NSEntityDescription()
        entity.name = "Other"
        other.entities = [entity]
        let bytes = try ModelCache.modelCacheData(for: other).map { String(format: "%02X", $0) }.joined()
        try execute("INSERT INTO Z_MODELCACHE VALUES (X'\(bytes)')", in: store.folder.store)
        let run = CommandRun("check", store.path)
        #expect(run.status == 3)
        #expect(run.output.contains("the store keeps 2 copies of its model (Z_MODELCACHE), where Core Data keeps one"))
        #expect(CommandRun("query", store.path, "Book", "--format", "csv").output.contains("title"))
        try execute("DELETE FROM Z_MODELCACHE WHERE rowid = 1", in: store.folder.store)
        let info = CommandRun("info", store.path)
        #expect(info.output.contains("is of another version than the metadata, and lacks entities"), "\(info.output)")
        #expect(CommandRun("dump", store.path, "--json").output.contains("ZTITLE"))
    }

    @Test("Values of another kind than their property are found, with their rows and what SQLite has there")
    func kinds() throws {
        let store = try SmallStore()
        try execute(
            "UPDATE ZBOOK SET ZPAGES = 'many' WHERE Z_PK = 1; UPDATE ZBOOK SET ZPAGES = 2.5, ZTITLE = x'01' WHERE Z_PK = 3",
            in: store.folder.store)
        let run = CommandRun("check", store.path)
        #expect(run.status == 3)
        #expect(
            run.output == """
                store.sqlite: 2 things are wrong
                  value      “Book.pages” of 2 objects is not an integer: Book/p1 (text), Book/p3 (real)
                  value      “Book.title” of 1 object is not a text: Book/p3 (blob)

                """)
    }

    @Test(
        "Numbers beyond their type, and texts that are not decimals or no UTF-8, are found with what SQLite has there")
    func misfits() throws {
        let store = try SmallStore { model in
            for (name, type) in [("isRead", NSAttributeType.booleanAttributeType), ("price", .decimalAttributeType)] {
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
                model.entitiesByName["Book"]?.properties.append(attribute)
            }
        }
        try execute(
            """
            UPDATE ZBOOK SET ZPAGES = 1099511627776, ZISREAD = 1, ZPRICE = '1.5' WHERE Z_PK = 1;
            UPDATE ZBOOK SET ZISREAD = 7, ZPRICE = '3,14', ZTITLE = CAST(x'FF41' AS TEXT) WHERE Z_PK = 2
            """, in: store.folder.store)
        let run = CommandRun("check", store.path)
        #expect(run.output.hasPrefix("store.sqlite: 4 things are wrong\n"), "\(run.output)")
        for text in [
            "“Book.title” of 1 object is not of type String: Book/p2",
            "“Book.pages” of 1 object is not of type Integer 32: Book/p1 (1099511627776)",
            "“Book.isRead” of 1 object is not of type Boolean: Book/p2 (7)",
            "“Book.price” of 1 object is not of type Decimal: Book/p2 (3,14)",
        ] { #expect(run.output.contains(text), "\(run.output)") }
    }

    @Test("A unique index that is gone is found")
    func uniqueIndex() throws {
        let store = try SmallStore()
        try execute("DROP INDEX Z_Author_UNIQUE_name", in: store.folder.store)
        #expect(
            CommandRun("check", store.path).output == """
                store.sqlite: one thing is wrong
                  structure  there is no unique index for “Author.name”

                """)
    }

    @Test("Pairs of a join table whose keys are not numbers are found, at either end")
    func pairs() throws {
        let store = try SmallStore { model in
            let (tags, books) = (NSRelationshipDescription(), NSRelationshipDescription())
            (tags.name, tags.destinationEntity, tags.isOptional) = ("readers", model.entitiesByName["Author"], true)
            (books.name, books.destinationEntity, books.isOptional) = ("read", model.entitiesByName["Book"], true)
            (tags.inverseRelationship, books.inverseRelationship) = (books, tags)
            model.entitiesByName["Book"]?.properties.append(tags)
            model.entitiesByName["Author"]?.properties.append(books)
        }
        let tables = "SELECT name FROM sqlite_master WHERE name GLOB 'Z_[0-9]*' AND type = 'table'"
        let table = try #require(try plainSQL(tables, in: store.folder.store).first)
        try execute("INSERT INTO \(table) VALUES ('zz', 1), (1, 'yy')", in: store.folder.store)
        let run = CommandRun("check", store.path)
        for relationship in ["Book.readers", "Author.read"] {
            #expect(
                run.output.contains(
                    "“\(relationship)” has 1 pair in \(table) with a key that is not an object’s number"),
                "\(run.output)")
        }
    }

    @Test("Two objects that share one object of a relationship between one and one are found")
    func oneSided() throws {
        let store = try SmallStore { model in
            let (first, back) = (NSRelationshipDescription(), NSRelationshipDescription())
            (first.name, first.destinationEntity, first.maxCount) = ("sequel", model.entitiesByName["Book"], 1)
            (back.name, back.destinationEntity, back.maxCount) = ("prequel", model.entitiesByName["Book"], 1)
            (first.isOptional, back.isOptional) = (true, true)
            (first.inverseRelationship, back.inverseRelationship) = (back, first)
            model.entitiesByName["Book"]?.properties += [first, back]
        }
        try execute(
            "UPDATE ZBOOK SET ZSEQUEL = 2 WHERE Z_PK IN (1, 3); UPDATE ZBOOK SET ZPREQUEL = 1 WHERE Z_PK = 2",
            in: store.folder.store)
        #expect(
            CommandRun("check", store.path).output == """
                store.sqlite: one thing is wrong
                  reference  “Book.sequel” of 1 object leads to objects whose “prequel” does not lead back: Book/p3

                """)
    }

    @Test("Objects of an entity that is abstract are found")
    func abstract() throws {
        let store = try SmallStore { model in
            let thing = NSEntityDescription()
            (thing.name, thing.isAbstract) = ("Thing", true)
            thing.subentities = [model.entitiesByName["Book"]].compactMap { $0 }
            model.entities.append(thing)
        }
        try execute(
            "UPDATE ZTHING SET Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Thing') WHERE Z_PK > 1",
            in: store.folder.store)
        #expect(
            CommandRun("check", store.path).output == """
                store.sqlite: one thing is wrong
                  entity     2 objects are of “Thing”, which is abstract

                """)
    }

    @Test("Values whose files are gone are counted")
    func files() throws {
        let store = try SmallStore { model in
            let cover = NSAttributeDescription()
            (cover.name, cover.attributeType, cover.isOptional) = ("cover", .binaryDataAttributeType, true)
            cover.allowsExternalBinaryDataStorage = true
            model.entitiesByName["Book"]?.properties.append(cover)
        }
        let name = UUID().uuidString
        let reference = Data([2]) + Data(name.utf8) + Data([0])
        let hex = reference.map { String(format: "%02x", $0) }.joined()
        try execute("UPDATE ZBOOK SET ZCOVER = x'\(hex)' WHERE Z_PK = 1", in: store.folder.store)
        #expect(
            CommandRun("check", store.path).output == """
                store.sqlite: one thing is wrong
                  file       1 of 1 file with values is missing beside the store

                """)
    }

    @Test("The counter of a table without rows may be below zero, as Core Data of some years began it")
    func emptyTable() throws {
        let store = try SmallStore()
        try execute(
            "UPDATE ZBOOK SET ZAUTHOR = NULL; DELETE FROM ZAUTHOR; UPDATE Z_PRIMARYKEY SET Z_MAX = -1 WHERE Z_NAME = 'Author'",
            in: store.folder.store)
        #expect(CommandRun("check", store.path).output == "store.sqlite: nothing is wrong\n")
    }

    @Test("The greatest number is found among numbers that are texts, and the counter of the mended copy is that")
    func textKeys() throws {
        let store = try SmallStore()
        try execute(
            """
            CREATE TABLE FORMER AS SELECT * FROM ZBOOK; DROP TABLE ZBOOK;
            CREATE TABLE ZBOOK (Z_PK, Z_ENT INTEGER, Z_OPT INTEGER, ZPAGES INTEGER, ZAUTHOR INTEGER, ZTITLE VARCHAR);
            INSERT INTO ZBOOK SELECT CAST(Z_PK * 4 AS TEXT), Z_ENT, Z_OPT, ZPAGES, ZAUTHOR, ZTITLE FROM FORMER;
            DROP TABLE FORMER
            """, in: store.folder.store)
        let copy = store.folder.file("mended.sqlite")
        let run = CommandRun("check", store.path, "--repair", copy.path)
        #expect(run.output.contains("the counter of “Book” is 3, and there is an object with the number 12"))
        #expect(run.output.contains("the counter of “Book” is 12; it was 3"))
        #expect(try plainNumber("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'", in: copy) == 12)
    }

    @Test("A file whose pages are damaged is told apart from one that is not a store")
    func pages() throws {
        let store = try SmallStore()
        try execute("PRAGMA wal_checkpoint(TRUNCATE)", in: store.folder.store)
        var data = try Data(contentsOf: store.folder.store)
        for index in 8_192..<20_000 where index < data.count { data[index] = 0xA5 }
        try data.write(to: store.folder.store)
        let run = CommandRun("check", store.path)
        #expect(run.status == 3)
        #expect(run.output.contains("the file"))
        #expect(CommandRun("check", "/etc/passwd").status == 1)
    }

    @Test("A report is a single page that asks for nothing, and escapes what the store says")
    func report() throws {
        let store = try SmallStore()
        try execute("UPDATE ZBOOK SET ZTITLE = '<script>alert(1)</script>' WHERE Z_PK = 1", in: store.folder.store)
        let page = store.folder.file("report.html")
        let run = CommandRun("report", store.path, "-o", page.path)
        #expect(run.errors.isEmpty)
        let text = try String(contentsOf: page, encoding: .utf8)
        #expect(text.contains("&lt;script&gt;alert(1)"))
        #expect(!text.contains("<script"))
        #expect(!text.contains(" src="))
        #expect(text.contains("1 object of “Book” has no “author”, with which it would be deleted"))
    }
}

@Suite("What a report warns of")
struct ReportWarningTests {
    @Test("Missing indexes, shared values, objects without an owner, references to what is gone, large values")
    func warnings() throws {
        let store = try SmallStore { model in
            let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
            request.predicate = NSPredicate(format: "pages > $PAGES AND author.name == $NAME")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            model.setFetchRequestTemplate(request, forName: "long")
            model.entitiesByName["Book"]?.attributesByName["pages"]?.isOptional = false
        }
        let indexes = try plainSQL(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name IN ('ZAUTHOR', 'ZBOOK') AND sql IS NOT NULL",
            in: store.folder.store)
        try execute(
            indexes.map { "DROP INDEX \"\($0)\"" }.joined(separator: "; ")
                + "; INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 2, Z_ENT, 1, ZNAME FROM ZAUTHOR; UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_NAME = 'Author'"
                + "; UPDATE ZBOOK SET ZAUTHOR = 77, ZPAGES = NULL WHERE Z_PK = 1; UPDATE ZBOOK SET ZTITLE = printf('%.*c', 200000, 'x') WHERE Z_PK = 2",
            in: store.folder.store)
        let page = store.folder.file("report.html")
        #expect(CommandRun("report", store.path, "-o", page.path).errors.isEmpty)
        let text = try String(contentsOf: page, encoding: .utf8)
        for warning in [
            "the fetch request “long” looks objects up by “Book.author.name”, which has no index",
            "the fetch request “long” looks objects up by “Book.pages”, which has no index",
            "the fetch request “long” sorts by “Book.title”, which has no index",
            "“Author.books” finds its objects by “Book.author”, which has no index",
            "1 value of “Author.name” is not unique",
            "“Book.pages” of 1 object is missing, and required: Book/p1",
            "1 object of “Book” has no “author”, with which it would be deleted",
            "“Book.author” of 1 object leads to “Author” objects that are gone: Book/p1",
            "“Book.title” has large values: Book/p2 (200 KB)",
        ] { #expect(text.contains("<li>\(warning)"), "\(warning)") }
        #expect(text.contains("<svg") || text.contains("Graphviz"))
    }
}
