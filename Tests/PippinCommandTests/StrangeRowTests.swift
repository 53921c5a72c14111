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

    private init(_ store: SmallStore) { self.store = store }

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

    /// Gives the column with the numbers of the entities another type, as a tool may that copies tables, and the values
    /// that such a column has.
    private func declare(_ type: String, in table: String) throws {
        try execute(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, 'Z_ENT INTEGER', 'Z_ENT \(type)') WHERE name = '\(table)'
            """, in: store.folder.store)
        try execute("UPDATE \(table) SET Z_ENT = CAST(Z_ENT AS TEXT)", in: store.folder.store)
    }

    @Test("are named with the text that they have in place of a number")
    func texts() throws {
        try declare("BLOB", in: "ZAUTHOR")
        let run = CommandRun("check", store.path)
        #expect(run.output.contains("the number of “Author”: Z_PK 1 (the text “1”)"), "\(run.output)")
        try execute("UPDATE ZBOOK SET Z_ENT = 'Book' WHERE Z_PK = 2", in: store.folder.store)
        #expect(CommandRun("check", store.path).output.contains("entity     \(text) (the text “Book”)\n"))
    }

    @Test("do not include rows whose numbers are texts: those of several entities have another order then")
    func textNumbers() throws {
        let store = try SmallStore { model in
            let novel = NSEntityDescription()
            novel.name = "Novel"
            model.entitiesByName["Book"]?.subentities = [novel]
            // So that “Book” is number 9 and “Novel” is number 10.
            let others = (0..<7).map { number in
                let entity = NSEntityDescription()
                entity.name = "B\(number)"
                return entity
            }
            model.entities += [novel] + others
        }
        let numbers = "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME IN ('Book', 'Novel') ORDER BY Z_ENT"
        try #require(try plainNumbers(numbers, in: store.folder.store) == [9, 10])
        try execute("UPDATE ZBOOK SET Z_ENT = 10 WHERE Z_PK = 3", in: store.folder.store)
        try StrangeRowTests(store).declare("VARCHAR", in: "ZBOOK")
        #expect(CommandRun("check", store.path).output == "store.sqlite: nothing is wrong\n")
        let novels = try CommandRun("dump", store.path, "--json").objects()["Novel"]
        #expect(novels?.map { $0["title"] as? String } == ["Emma, \"again\""])
    }
}
