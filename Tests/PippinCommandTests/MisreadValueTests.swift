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

    @Test("are not named where another entity is shown")
    func others() {
        #expect(CommandRun("query", store.path, "Author").errors.isEmpty)
        #expect(CommandRun("dump", store.path, "--entity", "Author").errors.isEmpty)
    }
}
