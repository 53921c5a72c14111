import CoreDataModel
import Foundation
import PostgresEngine
import StoreEngine
import Testing

@Suite("The statement of a fetch warns of what does not scale", .needsPostgres)
struct ExplainingTests {
    private let stores: PostgresStores
    private let engine: PostgresEngine
    private let count = 20_000

    init() throws {
        stores = try PostgresStores()
        engine = try stores.open(stores.nextURL(), Notes.model)
        var next = 0
        let count = count
        _ = try engine.insertBatch(BatchInsertPlan(entity: Notes.entity("Note"))) { row in
            guard next < count else { return false }
            row.values[0] = .string("note \(next)")
            row.values[1] = .integer(Int64(next % 5))
            next += 1
            return true
        }
        try stores.database.connect().execute("ANALYZE")
    }

    /// The remarks behind the statement.
    private func remarks(_ format: String?, offset: Int = 0) throws -> [String] {
        var plan = try Notes.plan(format)
        plan.offset = offset
        let text = try engine.statement(of: plan)
        return text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("-- does not scale") }
    }

    @Test("warns of a filter without an index, where the table is large and few rows are found")
    func unindexed() throws {
        let remarks = try remarks("text == 'note 7'")
        #expect(remarks.count == 1)
        #expect(remarks.first?.contains("reads all 20000 rows of “note” to find about 1") == true, "\(remarks)")
    }

    @Test("does not warn of a filter that has its index, one that most rows pass, or a small table")
    func harmless() throws {
        #expect(try remarks("stars >= 0").isEmpty)
        #expect(try remarks(nil).isEmpty)
        #expect(try remarks("folder.name == 'none'").isEmpty)
        try stores.database.connect().execute("CREATE INDEX ON store_1.note (text); ANALYZE")
        #expect(try remarks("text == 'note 7'").isEmpty)
    }

    @Test("warns of a long list of values")
    func list() throws {
        let plan = try Notes.plan()
        func remarks(_ count: Int) throws -> Bool {
            var asked = plan
            asked.predicate = NSPredicate(format: "text IN %@", argumentArray: [(0..<count).map { "note \($0)" }])
            return try engine.statement(of: asked).contains("-- does not scale: a list of \(count) values")
        }
        #expect(try remarks(5000))
        #expect(try !remarks(500))
    }

    @Test("warns of a deep offset")
    func offset() throws {
        #expect(try remarks(nil, offset: 5000).first?.contains("reads 5000 rows that are passed over") == true)
        #expect(try remarks(nil, offset: 100).isEmpty)
    }

    @Test("warns of a condition that the program evaluates on every row of a large table")
    func evaluated() throws {
        let remarks = try remarks("text LIKE 'n*7'")
        #expect(remarks.first?.contains("the program reads about 20000 rows") == true, "\(remarks)")
    }

    @Test("does not warn of the length of a text, which the database computes")
    func length() throws {
        let remarks = try remarks("length(text) > 3")
        #expect(!remarks.contains { $0.contains("the program reads") }, "\(remarks)")
    }

    @Test("warns within a generation, too, which goes on")
    func pinned() throws {
        engine.readGeneration = try engine.pinning?.pinGeneration()
        #expect(try remarks("text == 'note 7'").count == 1)
        #expect(try engine.fetchCount(Notes.plan("text == 'note 7'")) == 1)
        engine.readGeneration = nil
    }
}
