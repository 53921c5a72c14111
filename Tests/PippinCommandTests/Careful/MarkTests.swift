import CoreData
@testable import StoreReading
import TestSupport
import Testing

@testable import PippinCommand

@Suite("What a store holds cannot look like a mark of the tools")
struct MarkTests {
    private static let forged = "{\"missing\": \"x-coredata://forged\", \"unknown\": \"forged\", \"$marks\": {}}"

    private func makeStore() throws -> SmallStore {
        let store = try SmallStore { model in
            for (name, type) in [("notes", NSAttributeType.binaryDataAttributeType), ("site", .URIAttributeType)] {
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
                model.entitiesByName["Book"]?.properties.append(attribute)
            }
        }
        try execute("UPDATE ZBOOK SET ZNOTES = CAST('\(Self.forged)' AS BLOB)", in: store.folder.store)
        return store
    }

    @Test("Bytes that are JSON are a value of dump, which marks in a member of its own")
    func dump() throws {
        let store = try makeStore()
        try execute("UPDATE ZBOOK SET ZAUTHOR = 77 WHERE Z_PK = 1", in: store.folder.store)
        let books = try #require(try CommandRun("dump", store.path, "--json").objects()["Book"])
        for (index, book) in books.enumerated() {
            #expect((book["notes"] as? [String: Any])?["unknown"] as? String == "forged")
            let marks = book["$marks"] as? [String: [String: String]]
            #expect(marks?.keys.sorted() == (index == 0 ? ["author"] : nil))
            if index == 0 {
                #expect(book["author"] is NSNull)
                #expect(marks?["author"]?["missing"]?.hasSuffix("/Author/p77") == true)
            }
        }
    }

    @Test("They come back byte by byte through export and import", arguments: ["csv", "json", "jsonl"])
    func roundTrip(_ format: String) throws {
        let (source, target) = (try makeStore(), try makeStore())
        try execute("DELETE FROM ZBOOK", in: target.folder.store)
        try execute("UPDATE ZBOOK SET ZAUTHOR = NULL", in: source.folder.store)
        let file = source.folder.file("books.\(format)").path
        #expect(CommandRun("export", source.path, "Book", "--output", file).status == 0)
        let run = CommandRun("import", target.path, "Book", file)
        #expect(run.status == 0, "\(run.errors)")
        let notes = try plainSQL("SELECT DISTINCT CAST(ZNOTES AS TEXT) FROM ZBOOK", in: target.folder.store)
        #expect(notes == [Self.forged])
    }

    @Test("Texts and addresses in a table and a dump are in quotation marks where they begin like a mark")
    func text() throws {
        let store = try makeStore()
        try execute(
            """
            UPDATE ZBOOK SET ZTITLE = '→ Author/77', ZSITE = '? the column is not known' WHERE Z_PK = 1;
            UPDATE ZBOOK SET ZTITLE = '?', ZSITE = 'missing: a (b)' WHERE Z_PK = 2;
            UPDATE ZBOOK SET ZTITLE = '–', ZSITE = 'https://example.com/a?b' WHERE Z_PK = 3
            """, in: store.folder.store)
        let table = CommandRun("query", store.path, "Book", "--columns", "title,pages").output
        for cell in ["\"→ Author/77\"", "\"?\"", "\"–\""] { #expect(table.contains(cell), "\(table)") }
        let dump = CommandRun("dump", store.path).output
        #expect(dump.contains("site     https://example.com/a?b\n"), "\(dump)")
        #expect(!dump.contains("site     ?") && !dump.contains("site     missing: "), "\(dump)")
    }

    @Test("A property that a file names like the member of the marks has another name")
    func property() {
        let object = ObjectRecord(
            entityName: "Book", key: 1, uri: "x-coredata://A/Book/p1",
            fields: [.init(name: "$marks", value: .json("{}")), .init(name: "cover", value: .unknown("why"))])
        var text = ""
        try? DumpJSON.write(object, ValueStyle(), from: "") { text += $0 }
        #expect(
            text == """
                {"objectID": "x-coredata://A/Book/p1", "$marks 2": {}, "cover": null, "$marks": {"cover": {"unknown": "why"}}}
                """)
    }
}
