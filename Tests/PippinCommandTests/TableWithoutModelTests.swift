import SQLiteConnection
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Queries of SQLite stores without a model")
struct TableWithoutModelTests {
    private let store: SmallStore

    init() throws {
        store = try SmallStore()
        try execute(
            """
            DELETE FROM Z_MODELCACHE;
            ALTER TABLE ZBOOK ADD COLUMN Z15READERS INTEGER;
            ALTER TABLE ZBOOK ADD COLUMN Z_FOK_15READERS INTEGER;
            ALTER TABLE ZBOOK ADD COLUMN Z_HIDDEN VARCHAR;
            UPDATE ZBOOK SET Z15READERS = Z_PK + 10, Z_FOK_15READERS = 7, Z_HIDDEN = 'x' WHERE ZPAGES > 100;
            CREATE TABLE Z_2TAGS (Z_2BOOKS INTEGER, Z_3TAGS INTEGER);
            """, in: store.folder.store)
    }

    private func titles(_ query: String, _ more: String...) -> [String] {
        let run = CommandRun(
            arguments: ["query", store.path, query, "--columns", "ZTITLE", "--format", "csv"] + more)
        #expect(run.status == 0, "\(run.errors)")
        return run.output.split(whereSeparator: \.isNewline).dropFirst().map {
            String($0.split(separator: ",", maxSplits: 1)[1])
        }
    }

    @Test(
        "take the names of columns, as dump shows them, and names without their Z",
        arguments: ["ZPAGES", "pages", "zpages"])
    func columns(key: String) {
        #expect(titles("Book where \(key) > 100 order by \(key)") == ["Persuasion", "Emma"])
    }

    @Test(
        "take the columns of relationships without inverses, of orders, and of names that begin with an underscore",
        arguments: ["Z15READERS > 10", "z15readers > 10", "Z_FOK_15READERS == 7", "Z_HIDDEN == \"x\""])
    func others(condition: String) {
        #expect(titles("Book where \(condition) order by ZTITLE") == ["Emma", "Persuasion"])
    }

    @Test("print such columns under names that a query can contain")
    func heads() throws {
        let run = CommandRun("query", store.path, "Book where Z15READERS != nil limit 1", "--format", "csv")
        let heads = try #require(run.output.split(whereSeparator: \.isNewline).first)
        #expect(heads.contains("z15readers"))
        #expect(heads.contains("z_fok_15readers"))
        #expect(run.errors.contains("keeps no copy of its model; its tables are shown as they are"))
    }

    @Test("say of a join table that it has pairs, which dump shows")
    func joinTable() {
        let run = CommandRun("query", store.path, "Z_2TAGS")
        #expect(run.status == 1)
        #expect(run.errors.contains("“Z_2TAGS” is not an entity, but pairs of objects, which pippin dump shows"))
        #expect(CommandRun("dump", store.path, "--entity", "Z_2TAGS").status == 0)
    }

    @Test("With a model, columns are not names")
    func withModel() throws {
        let whole = try SmallStore()
        let run = CommandRun("query", whole.path, "Book where ZPAGES > 100")
        #expect(run.status == 1)
        #expect(run.errors.contains("“Book” has no property “ZPAGES”"))
    }
}
