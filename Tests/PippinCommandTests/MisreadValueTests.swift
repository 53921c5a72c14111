import CoreData
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Values that are read as something else than what the store has")
struct MisreadValueTests {
    private let store: SmallStore
    private let warning =
        "pippin: warning: “Book.pages” of 2 objects is not an integer: Book/p1 (text), Book/p2 (text); the output has what "
        + "they are read as\n"

    init() throws {
        store = try SmallStore()
        try execute("UPDATE ZBOOK SET ZPAGES = 'ééé' WHERE Z_PK < 3", in: store.folder.store)
    }

    @Test(
        "are named by query, export and dump, with or without a model, once for each property",
        arguments: [["query", "Book"], ["export", "Book"], ["dump", "--entity", "Book"], ["dump"]])
    func named(command: [String]) throws {
        let arguments = [command[0], store.path] + command.dropFirst()
        let run = CommandRun(arguments: arguments)
        #expect(run.status == 0)
        #expect(run.errors == warning)
        #expect(!run.output.isEmpty)
        guard command[0] != "dump" else { return }
        try execute("DELETE FROM Z_MODELCACHE", in: store.folder.store)
        #expect(CommandRun(arguments: arguments).errors.hasSuffix(warning))
    }

    @Test("are looked for among the rows and columns that are shown, and nowhere else")
    func shown() {
        let first = "“Book.pages” of 1 object is not an integer: Book/p1 (text); the output has what they are read as\n"
        #expect(CommandRun("query", store.path, "Book limit 1").errors == "pippin: warning: \(first)")
        #expect(CommandRun("query", store.path, "Book where title beginswith 'Emma,'").errors.isEmpty)
        #expect(CommandRun("query", store.path, "Book", "--columns", "title").errors.isEmpty)
    }

    @Test("are named once for all portions of a long output, with the first of them")
    func portions() throws {
        let rows = "SELECT i, Z_ENT, 1, 'T' || i, CASE WHEN i > 900 THEN 'x' END FROM ZBOOK, n WHERE Z_PK = 1"
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
        try execute("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES) \(numbers) \(rows)", in: store.folder.store)
        let run = CommandRun("query", store.path, "Book order by title", "--format", "csv")
        #expect(run.output.split(whereSeparator: \.isNewline).count == 2001)
        #expect(
            run.errors.hasPrefix("pippin: warning: “Book.pages” of 1,102 objects is not an integer: Book/p1 (text), "))
        #expect(run.errors.split(whereSeparator: \.isNewline).count == 1)
    }

    @Test("are not named where another entity is shown")
    func others() {
        #expect(CommandRun("query", store.path, "Author").errors.isEmpty)
        #expect(CommandRun("dump", store.path, "--entity", "Author").errors.isEmpty)
    }
}
