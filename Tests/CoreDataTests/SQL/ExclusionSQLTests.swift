import Testing

@testable import CoreData
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Values that are left out one by one, as SQL")
struct ExclusionSQLTests {
    private func condition(_ parts: [NSPredicate]) throws -> String {
        let schema = try shop()
        let entity = try #require(schema.layout.entityByName["Review"])
        let prepared = try preparedPredicate(of: NSCompoundPredicate(andPredicateWithSubpredicates: parts))
        let fetch = try FetchSQL(schema: schema).statement(
            FetchPlan(entity: entity), result: .count, predicate: prepared.skeleton, arguments: prepared.arguments)
        return String(try #require(fetch.sql.sqlite.text.split(separator: "WHERE ").last))
    }

    private func exclusions(_ count: Int) -> [NSPredicate] {
        (0..<count).map { NSPredicate(format: "stars != %@", $0) }
    }

    @Test("Four hundred of a property are a list, in the place of the first, and what else there is stays")
    func many() throws {
        let text = NSPredicate(format: "text == 'a'")
        let all = exclusions(200) + [text, NSPredicate(format: "stars != nil")] + exclusions(200)
        let list = Array(repeating: "?", count: 400).joined(separator: ", ")
        #expect(
            try condition(all) == "NOT IFNULL(t0.ZSTARS IN (\(list)), 0) AND t0.ZTEXT = ? AND t0.ZSTARS IS NOT NULL")
    }

    @Test("Few stay what they are")
    func few() throws {
        #expect(
            try condition(exclusions(2))
                == "(t0.ZSTARS <> ? OR t0.ZSTARS IS NULL) AND (t0.ZSTARS <> ? OR t0.ZSTARS IS NULL)")
    }
}
