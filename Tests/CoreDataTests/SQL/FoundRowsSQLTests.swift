import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Conditions on destinations as SQL")
struct FoundRowsSQLTests {
    private let schema: SQLSchema

    /// Photos with an index of years and one of titles, and tags with one of codes.
    init() throws {
        let photo = makeEntity(
            "Photo", makeAttribute("title", .stringAttributeType), makeAttribute("year", .integer32AttributeType),
            makeAttribute("note", .stringAttributeType), makeToMany("tags", "Tag", inverse: "photos")
        ).with(index: "byYear", "year").with(index: "byTitle", "title")
        let tag = makeEntity(
            "Tag", makeAttribute("name", .stringAttributeType), makeAttribute("code", .stringAttributeType),
            makeToMany("photos", "Photo", inverse: "tags")
        ).with(index: "byCode", "code")
        schema = SQLSchema(layout: try makeModel(photo, tag).compiledLayout())
    }

    private func text(
        _ format: String, limit: Int = 0, by keys: [String] = [], result: FetchResult = .identifiers
    ) throws -> String {
        var plan = FetchPlan(entity: try #require(schema.layout.entityByName["Photo"]))
        plan.limit = limit
        let prepared = try preparedPredicate(of: NSPredicate(format: format))
        return try FetchSQL(schema: schema).statement(
            plan, result: result, predicate: prepared.skeleton, arguments: prepared.arguments,
            sortTerms: keys.map { SortTerm(keyPath: $0 == "SELF" ? [] : [$0], ascending: false) }
        ).sql.sqlite.text
    }

    private let asked = """
        EXISTS (SELECT 1 FROM Z_1TAGS t1, ZTAG t2 WHERE t1.Z_2TAGS = t2.Z_PK AND t1.Z_1PHOTOS = t0.Z_PK AND \
        NSCoreDataStringSearch(t2.ZNAME, ?, 99, 0))
        """
    private let found = """
        t0.Z_PK IN (SELECT t1.Z_1PHOTOS FROM Z_1TAGS t1, ZTAG t2 WHERE t1.Z_2TAGS = t2.Z_PK AND \
        NSCoreDataStringSearch(t2.ZNAME, ?, 99, 0))
        """

    @Test(
        "are asked of the objects in a range of an index, if they search",
        arguments: [
            ("year > 1990", "t0.ZYEAR > ?"), ("year >= 1990", "t0.ZYEAR >= ?"), ("year < 1990", "t0.ZYEAR < ?"),
            ("1990 <= year", "? <= t0.ZYEAR"), ("year BETWEEN {1990, 2000}", "t0.ZYEAR BETWEEN ? AND ?"),
            ("title BEGINSWITH 'a'", "(t0.ZTITLE >= ? AND t0.ZTITLE < ?)"), ("1990 == year", "? = t0.ZYEAR"),
        ])
    func ranges(format: String, condition: String) throws {
        #expect(
            try text("\(format) AND ANY tags.name CONTAINS 't'")
                == "SELECT t0.Z_PK FROM ZPHOTO t0 WHERE \(condition) AND \(asked)")
    }

    @Test(
        "find the objects beside a condition without a range of an index",
        arguments: [
            ("note > 'a'", "t0.ZNOTE > ?"), ("year != 1990", "(t0.ZYEAR <> ? OR t0.ZYEAR IS NULL)"),
            ("title BEGINSWITH[c] 'a'", "NSCoreDataStringSearch(t0.ZTITLE, ?, 8, 1)"),
            ("year BEGINSWITH '19'", "NSCoreDataStringSearch(t0.ZYEAR, ?, 8, 0)"),
        ])
    func noRanges(format: String, condition: String) throws {
        #expect(
            try text("\(format) AND ANY tags.name CONTAINS 't'")
                == "SELECT t0.Z_PK FROM ZPHOTO t0 WHERE \(condition) AND \(found)")
    }

    @Test("are asked of the objects where a limit ends the search: in any order, an index's or that of the keys")
    func limits() throws {
        let format = "ANY tags.name CONTAINS 't'"
        let start = "SELECT t0.Z_PK FROM ZPHOTO t0 WHERE "
        #expect(try text(format, limit: 20) == "\(start)\(asked) LIMIT ?")
        #expect(
            try text(format, limit: 20, by: ["year"]) == "\(start)\(asked) ORDER BY t0.ZYEAR DESC LIMIT ?")
        #expect(try text(format, limit: 20, by: ["SELF"]) == "\(start)\(asked) ORDER BY t0.Z_PK DESC LIMIT ?")
        #expect(
            try text(format, limit: 20, by: ["note"], result: .count)
                == "SELECT COUNT(*) FROM (SELECT 1 FROM ZPHOTO t0 WHERE \(asked) LIMIT ?)")
        #expect(
            try text(format, limit: 20, by: ["note"]) == "\(start)\(found) ORDER BY t0.ZNOTE DESC LIMIT ?")
        #expect(try text(format, by: ["year"]) == "\(start)\(found) ORDER BY t0.ZYEAR DESC")
    }

    @Test("find the objects by a plain value, in a range and up to a limit as well")
    func values() throws {
        let tags = "t0.Z_PK IN (SELECT t1.Z_1PHOTOS FROM Z_1TAGS t1, ZTAG t2 WHERE t1.Z_2TAGS = t2.Z_PK AND"
        for (condition, value) in [("ANY tags.code == 'x'", "t2.ZCODE = ?"), ("ANY tags.name == 'x'", "t2.ZNAME = ?")] {
            let found = "\(tags) \(value))"
            #expect(
                try text("year > 1990 AND \(condition)")
                    == "SELECT t0.Z_PK FROM ZPHOTO t0 WHERE t0.ZYEAR > ? AND \(found)")
            #expect(
                try text(condition, limit: 20, by: ["year"])
                    == "SELECT t0.Z_PK FROM ZPHOTO t0 WHERE \(found) ORDER BY t0.ZYEAR DESC LIMIT ?")
        }
        let folded = try text("ANY tags.name ==[c] 'x'", limit: 20, by: ["year"])
        #expect(folded.hasPrefix("SELECT t0.Z_PK FROM ZPHOTO t0 WHERE EXISTS (SELECT 1 FROM Z_1TAGS t1, ZTAG t2"))
    }
}
