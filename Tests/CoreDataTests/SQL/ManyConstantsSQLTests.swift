import Testing

@testable import CoreData
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Very many constants, as SQL")
struct ManyConstantsSQLTests {
    private func statement(_ predicate: NSPredicate) throws -> SQLStatement {
        let schema = try shop()
        let entity = try #require(schema.layout.entityByName["Review"])
        let prepared = try preparedPredicate(of: predicate)
        return try FetchSQL(schema: schema).statement(
            FetchPlan(entity: entity), result: .count, predicate: prepared.skeleton, arguments: prepared.arguments
        ).sql.sqlite
    }

    private func alternatives(_ count: Int) -> NSPredicate {
        NSCompoundPredicate(
            orPredicateWithSubpredicates: (0..<count).map {
                NSPredicate(format: "stars == %@ AND text == %@", $0, "\($0)")
            })
    }

    @Test("More than 500 in conditions are results of queries, which SQLite does not compare with each other")
    func many() throws {
        let few = try statement(alternatives(250))
        #expect(few.bindings.count == 500)
        #expect(!few.text.contains("(SELECT ?)"))
        let many = try statement(alternatives(251))
        #expect(many.bindings.count == 502)
        #expect(many.text.contains("t0.ZSTARS = (SELECT ?) AND t0.ZTEXT = (SELECT ?)"))
        #expect(!many.text.contains("= ?"))
    }

    @Test("In a list they stay what they are, and do not count")
    func lists() throws {
        let list = NSPredicate(format: "stars IN %@ AND text == 'a'", Array(0..<1000))
        #expect(try !statement(list).text.contains("(SELECT ?)"))
        let both = try statement(NSCompoundPredicate(andPredicateWithSubpredicates: [list, alternatives(300)]))
        #expect(both.text.contains("IN (?, ?"))
        #expect(both.text.contains("ZTEXT = (SELECT ?)"))
    }
}
