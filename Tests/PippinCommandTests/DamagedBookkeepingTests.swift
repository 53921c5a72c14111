import CoreData
import StoreReading
import TestSupport
import Testing

@testable import PippinCommand

@Suite("A store of which pages are damaged that have no objects")
struct DamagedBookkeepingTests {
    private func store(without tables: [String]) throws -> (SmallStore, bytes: Data) {
        let store = try SmallStore()
        for table in tables { try damage(table, in: store.folder.store) }
        return (store, try Data(contentsOf: store.folder.store))
    }

    @Test(
        "is read all the same by its model, and named as damaged",
        arguments: [["Z_METADATA"], ["Z_PRIMARYKEY"], ["Z_METADATA", "Z_PRIMARYKEY"]])
    func known(tables: [String]) throws {
        let (store, bytes) = try store(without: tables)
        let lost = "of the table “\(tables[0])”, the rows cannot be read, and are left out"
        let info = CommandRun("info", store.path)
        #expect(info.status == 0, "\(info.errors)")
        #expect(
            info.output.contains(lost) && info.output.contains("pippin check STORE --repair COPY"), "\(info.output)")
        #expect(info.output.contains("Book   3 objects"), "\(info.output)")
        let dump = CommandRun("dump", store.path, "--json")
        let titles = try dump.objects()["Book"]?.compactMap { $0["title"] as? String }
        #expect(titles == ["Emma", "Persuasion", "Emma, \"again\""])
        #expect(dump.errors.contains("warning: the file is damaged") && dump.errors.contains(lost), "\(dump.errors)")
        let query = CommandRun("query", store.path, "Book where pages == 474", "--format", "csv")
        #expect(query.output.contains("Emma"), "\(query.errors)")
        #expect(query.status == 1, "something may be missing")
        #expect(query.errors.contains(lost), "\(query.errors)")
        let export = CommandRun("export", store.path, "Author")
        #expect(export.output.contains("Jane Austen") && export.status == 1, "\(export.errors)")
        let model = store.folder.file("Small.xcdatamodel")
        #expect(CommandRun("model", "extract", store.path, "--output", model.path).status == 0)
        #expect(try Data(contentsOf: store.folder.store) == bytes)
    }

    @Test("is shown by the browser, the shell and a report, too, which name what is lost")
    func shown() throws {
        let (store, bytes) = try store(without: ["Z_METADATA"])
        let lost = "of the table “Z_METADATA”, the rows cannot be read, and are left out"
        let page = store.folder.file("report.html")
        #expect(CommandRun("report", store.path, "-o", page.path).status == 0)
        #expect(try String(contentsOf: page, encoding: .utf8).contains(lost))
        var opening = DirectStore.Opening(path: store.path)
        opening.salvages = true
        let direct = try DirectStore(opening)
        #expect(direct.damage?.contains(lost) == true)
        let books = try #require(direct.layout.entities.first { $0.name == "Book" })
        #expect(try direct.page(PageRequest(entity: books)).rows.count == 3)
        direct.close()
        opening.isWritable = true
        #expect(throws: CommandError.self) { try DirectStore(opening) }
        #expect(try Data(contentsOf: store.folder.store) == bytes)
    }

    @Test(
        "is shown by its tables if the copy of its model is lost, too",
        arguments: [["Z_MODELCACHE"], ["Z_MODELCACHE", "Z_METADATA"], ["Z_MODELCACHE", "Z_PRIMARYKEY"]])
    func unknown(tables: [String]) throws {
        let (store, _) = try store(without: tables)
        let name = tables.contains("Z_PRIMARYKEY") ? "BOOK" : "Book"
        let info = CommandRun("info", store.path)
        #expect(info.status == 0, "\(info.errors)")
        #expect(info.output.contains("\(name)   3 objects"), "\(info.output)")
        let objects = try CommandRun("dump", store.path, "--json").objects()
        #expect(objects[name]?.first?["ZTITLE"] as? String == "Emma", "\(objects)")
        let query = CommandRun("query", store.path, "\(name) where pages == 474")
        #expect(query.output.contains("Emma"), "\(query.errors)")
        #expect(query.status == 1)
    }

    @Test("is refused by commands that write to it", arguments: ["Z_METADATA", "Z_PRIMARYKEY"])
    func writing(table: String) throws {
        let (store, bytes) = try store(without: [table])
        let rows = store.folder.file("rows.csv")
        try Data("title\nX\n".utf8).write(to: rows)
        let run = CommandRun("import", store.path, "Book", rows.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("damaged"), "\(run.errors)")
        #expect(try Data(contentsOf: store.folder.store) == bytes)
    }

    @Test(
        "is read where such a table is missing, by its model or by its tables; that is told, and nothing is written",
        arguments: ["Z_METADATA", "Z_PRIMARYKEY"], [true, false])
    func missing(table: String, hasModel: Bool) throws {
        let store = try SmallStore()
        try execute("DROP TABLE \(table)\(hasModel ? "" : "; DELETE FROM Z_MODELCACHE")", in: store.folder.store)
        let bytes = try Data(contentsOf: store.folder.store)
        let name = hasModel || table == "Z_METADATA" ? "Book" : "BOOK"
        let info = CommandRun("info", store.path)
        #expect(info.status == 0, "\(info.errors)")
        #expect(info.output.contains("\(name)   3 objects"), "\(info.output)")
        #expect(info.output.contains("there is no table \(table)"), "\(info.output)")
        let query = CommandRun("query", store.path, "\(name) where pages == 474")
        #expect(query.output.contains("Emma"), "\(query.errors)")
        #expect(query.status == 1 && query.errors.contains("there is no table \(table)"), "\(query.errors)")
        let dump = CommandRun("dump", store.path, "--json")
        #expect(try dump.objects()[name]?.count == 3)
        let check = CommandRun("check", store.path)
        #expect(!hasModel || check.status == 3 && check.output.contains(table), "\(check.output)\(check.errors)")
        let rows = store.folder.file("rows.csv")
        try Data("title\nX\n".utf8).write(to: rows)
        #expect(CommandRun("import", store.path, "Book", rows.path).errors.contains("it has no table \(table)"))
        var opening = DirectStore.Opening(path: store.path)
        opening.salvages = true
        let direct = try DirectStore(opening)
        #expect(direct.damage?.contains("there is no table \(table)") == true)
        direct.close()
        #expect(try Data(contentsOf: store.folder.store) == bytes)
    }
}
