import CoreData
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Rows of an entity that the model does not have")
struct StrangeRowTests {
    private let store: SmallStore
    private let text = "1 row of ZBOOK is of an entity that the model does not have: Z_PK 2"

    init() throws {
        store = try SmallStore { model in
            let novel = NSEntityDescription()
            novel.name = "Novel"
            model.entitiesByName["Book"]?.subentities = [novel]
            model.entities.append(novel)
        }
        try execute("UPDATE ZBOOK SET Z_ENT = 99 WHERE Z_PK = 2", in: store.folder.store)
    }

    @Test(
        "do not hide the other objects from query and export, which name them",
        arguments: [["query"], ["query", "--in-place"], ["export"]])
    func query(command: [String]) throws {
        let run = CommandRun(
            arguments: [command[0], store.path, "Book", "--format", "csv"] + command.dropFirst())
        #expect(run.status == 1)
        #expect(run.errors == "pippin: \(text)\n")
        #expect(run.output.split(whereSeparator: \.isNewline).count == 3, "\(run.output)")
        #expect(CommandRun("query", store.path, "Author", "--format", "csv").status == 0)
    }

    @Test("are named by dump, info and check, and on the page of a report")
    func others() throws {
        let dump = CommandRun("dump", store.path, "--entity", "Book", "--json")
        #expect(dump.errors == "pippin: warning: \(text)\n")
        #expect(try dump.objects()["Book"]?.count == 2)
        #expect(CommandRun("info", store.path).output.contains(text))
        #expect(CommandRun("check", store.path).output.contains("entity     \(text)\n"))
        let page = store.folder.file("report.html")
        #expect(CommandRun("report", store.path, "-o", page.path).errors.isEmpty)
        #expect(try String(contentsOf: page, encoding: .utf8).contains(text))
    }

    @Test("are objects where a table has one entity only, and are named by check, since a migration refuses them")
    func onlyEntity() throws {
        try execute("UPDATE ZAUTHOR SET Z_ENT = 99", in: store.folder.store)
        let authors = try CommandRun("dump", store.path, "--json").objects()["Author"]
        #expect(try authors?.count == plainNumbers("SELECT Z_PK FROM ZAUTHOR", in: store.folder.store).count)
        let sql = "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Author'"
        let number = try #require(try plainNumbers(sql, in: store.folder.store).first)
        let text = "another value in Z_ENT than \(number), the number of “Author”"
        let run = CommandRun("check", store.path)
        #expect(run.status == 3)
        #expect(run.output.contains("\(text): Z_PK 1"), "\(run.output)")
    }

    @Test("are counted without a model, too")
    func withoutModel() throws {
        try execute("DELETE FROM Z_MODELCACHE", in: store.folder.store)
        let query = CommandRun("query", store.path, "Book", "--format", "csv")
        #expect(query.errors.hasSuffix("pippin: \(text)\n"))
        #expect(query.output.split(whereSeparator: \.isNewline).count == 3)
        let count = "1 row of ZBOOK is of an entity that Z_PRIMARYKEY does not have"
        #expect(CommandRun("dump", store.path).errors.contains(count))
        #expect(CommandRun("info", store.path).output.contains(count))
    }
}
