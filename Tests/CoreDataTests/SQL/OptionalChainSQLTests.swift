import Testing

@testable import CoreData
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("SQL of an optional chain in a #Predicate")
struct OptionalChainSQLTests {
    private struct Review {
        var text: String?
        var stars: Int
    }

    private func condition(_ predicate: Predicate<Review>) throws -> String {
        let schema = try shop()
        let entity = try #require(schema.layout.entityByName["Review"])
        let prepared = try preparedPredicate(of: try #require(NSPredicate(predicate)))
        let fetch = try FetchSQL(schema: schema).statement(
            FetchPlan(entity: entity), result: .count, predicate: prepared.skeleton, arguments: prepared.arguments)
        return String(try #require(fetch.sql.sqlite.text.split(separator: "WHERE ").last))
    }

    @Test("is NULL without the value before the question mark")
    func missing() throws {
        #expect(
            try condition(#Predicate { $0.text?.isEmpty == false })
                == """
                CASE WHEN t0.ZTEXT IS NOT NULL THEN CASE WHEN t0.ZTEXT = ? THEN ? ELSE ? END ELSE ? END = ?
                """)
        #expect(
            try condition(#Predicate { $0.text?.isEmpty ?? true })
                == """
                CASE WHEN t0.ZTEXT IS NOT NULL THEN CASE WHEN t0.ZTEXT = ? THEN ? ELSE ? END ELSE ? END = ?
                """)
    }

    @Test("is a plain condition, which an index may serve, if it is false in place of nil")
    func falseInstead() throws {
        #expect(
            try condition(#Predicate { $0.text?.isEmpty ?? false }) == "t0.ZTEXT IS NOT NULL AND t0.ZTEXT = ?")
    }

    @Test("needs no condition if it leads to a property: a path continues from NULL with NULL")
    func paths() throws {
        #expect(try condition(#Predicate { $0.text?.count == 3 }) == "length(t0.ZTEXT) = ?")
    }
}
