import Foundation
import TestSupport
import Testing

@testable import PippinCommand

@Suite("A store of which pages with objects are damaged")
struct DamagedPageTests {
    private let lost = "of the table “ZBOOK”, the rows cannot be read, and are left out"
    private let store: SmallStore

    init() throws {
        store = try SmallStore()
        try damage("ZBOOK", in: store.folder.store)
    }

    @Test("is described by info as far as it can be read, with or without a model")
    func info() throws {
        for isKnown in [true, false] {
            if !isKnown { try execute("DELETE FROM Z_MODELCACHE", in: store.folder.store) }
            let run = CommandRun("info", store.path)
            #expect(run.status == 0, "\(run.errors)")
            #expect(
                run.output.contains(lost) && run.output.contains("pippin check STORE --repair COPY"), "\(run.output)")
            #expect(run.output.contains("Author   1 object\n"), "\(run.output)")
            #expect(run.output.contains("Book   0 objects\n"), "\(run.output)")
        }
    }

    @Test("is dumped as far as it can be read, and named as damaged")
    func dump() throws {
        let run = CommandRun("dump", store.path, "--json")
        #expect(try run.objects()["Author"]?.first?["name"] as? String == "Jane Austen")
        #expect(run.errors.contains("warning: the file is damaged") && run.errors.contains(lost), "\(run.errors)")
    }

    @Test("is reported as far as it can be read")
    func report() throws {
        let page = store.folder.file("report.html")
        #expect(CommandRun("report", store.path, "-o", page.path).status == 0)
        let text = try String(contentsOf: page, encoding: .utf8)
        #expect(text.contains(lost) && text.contains("Jane Austen"))
    }

    @Test("is named as damaged by a query of the entity, and answers one of another entity")
    func query() {
        let run = CommandRun("query", store.path, "Book")
        #expect(run.status == 1)
        #expect(run.errors.contains("damaged (") || run.errors.contains("the file is damaged"), "\(run.errors)")
        #expect(run.errors.contains("“pippin check STORE --repair COPY” copies what can be read"), "\(run.errors)")
        let other = CommandRun("query", store.path, "Author")
        #expect(other.status == 0, "\(other.errors)")
        #expect(other.output.contains("Jane Austen"))
    }
}

@Suite("A table with a damaged page in its midst")
struct DamagedMiddleTests {
    @Test("is counted, dumped and queried but for the rows of this page")
    func middle() throws {
        let store = try SmallStore()
        let url = store.folder.store
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
        let rows = "SELECT i, Z_ENT, 1, 'T' || i, i FROM ZBOOK, n WHERE Z_PK = 1"
        try execute("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES) \(numbers) \(rows)", in: url)
        try execute("PRAGMA wal_checkpoint(TRUNCATE)", in: url)
        let size = try #require(try plainNumber("PRAGMA page_size", in: url))
        var bytes = try Data(contentsOf: url)
        // The page has the title as it is stored, between those of its neighbours.
        let place = try #require(bytes.range(of: Data("T250".utf8))).lowerBound / Int(size) * Int(size)
        bytes[place] = 0xFF
        try bytes.write(to: url)
        let info = CommandRun("info", store.path)
        #expect(info.status == 0, "\(info.errors)")
        #expect(info.output.contains(/of the table “ZBOOK”, the rows from \d+ to \d+ cannot be read/), "\(info.output)")
        let dump = try CommandRun("dump", store.path, "--json").objects()["Book"] ?? []
        let keys = Set(dump.compactMap { $0["pages"] as? Int })
        #expect(!keys.contains(250) && keys.contains(5) && keys.contains(500))
        let query = CommandRun("query", store.path, "Book where pages < 300")
        #expect(query.status == 1)
        #expect(query.output.contains("T5\n"), "what comes before the damage is shown")
    }
}
