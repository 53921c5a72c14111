import PredicateFormat
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Statements in another dialect")
struct DialectTests {
    private let schema: SQLSchema

    init() throws { schema = try shop() }

    private func text(_ predicate: NSPredicate, _ entity: String = "Product") throws -> String {
        var plan = FetchPlan(entity: try #require(schema.layout.entityByName[entity]))
        plan.limit = 5
        plan.offset = 2
        let fetch = try FetchSQL(schema: schema).statement(
            plan, result: .identifiers, predicate: predicateTree(of: predicate),
            sortTerms: [SortTerm(keyPath: ["name"], ascending: false, comparison: .localized)])
        return fetch.sql.rendered(by: OtherDialect()).text
    }

    @Test("A fetch has a join, a string comparison, an order and a limit of the dialect")
    func fetch() throws {
        #expect(
            try text(NSPredicate(format: "category.name == name AND name CONTAINS[c] 'x' AND uppercase:(name) != 'Y'"))
                == """
                SELECT t0.id, t0.kind FROM [zproduct] t0 LEFT OUTER JOIN [zcategory] t1 ON t0.[zcategory] = t1.id \
                WHERE t1.[zname] IS NOT DISTINCT FROM t0.[zname] AND search(t0.[zname], $1) AND \
                (upper(t0.[zname]) <> $2 OR upper(t0.[zname]) IS NULL) ORDER BY t0.[zname] COLLATE "other" DESC \
                OFFSET $3 ROWS FETCH FIRST $4 ROWS ONLY
                """)
    }

    @Test("What is bound follows the order in which the dialect writes the parameters")
    func bindings() throws {
        let sql: SQLFragment = "SELECT \(.page(2, 7))"
        let statement = sql.rendered(by: OtherDialect())
        #expect(statement.text == "SELECT  OFFSET $1 ROWS FETCH FIRST $2 ROWS ONLY")
        #expect(try statement.values() == [.integer(7), .integer(2)])
    }

    @Test("A subquery over a many-to-many relationship has the names of the dialect")
    func subquery() throws {
        let found = try text(NSPredicate(format: "SUBQUERY(tags, $t, $t.name == 'a').@count > 1 AND NOT price < 3"))
        #expect(
            found == """
                SELECT t0.id, t0.kind FROM [zproduct] t0 WHERE (SELECT COUNT(*) FROM [z_2tags] t1, [ztag] t2 WHERE \
                t1.[z_5tags] = t2.id AND t1.[z_2products] = t0.id AND t2.[zname] = $1) > $2 AND NOT \
                coalesce(t0.[zprice] < $3, false) ORDER BY t0.[zname] COLLATE "other" DESC OFFSET $4 ROWS FETCH FIRST \
                $5 ROWS ONLY
                """)
    }

    @Test("Rows are written with the names and parameters of the dialect")
    func rows() throws {
        let entity = try #require(schema.layout.entityByName["Review"])
        let mapping = try schema.neededMapping(of: entity)
        #expect(
            RowSQL.insert(mapping).rendered(by: OtherDialect()).text
                == "PUT id, kind, version, [zstars], [ztext], [zproduct], [z2_product] INTO [zreview]")
        #expect(
            RowSQL.delete(mapping).rendered(by: OtherDialect()).text
                == "DELETE FROM [zreview] WHERE id = $1 AND version = $2")
    }

    @Test("A batch that reads behind a relationship checks that what it computes is a whole number")
    func batch() throws {
        let entity = try #require(schema.layout.entityByName["Review"])
        let stars = entity.slots[try #require(entity.slotIndex(forName: "stars"))]
        let sql = try BatchSQL(
            schema: schema, plan: FetchPlan(entity: entity),
            predicate: predicateTree(of: NSPredicate(format: "product.price > 2")))
        let update = try sql.update(
            [
                .expression(
                    column: "ZSTARS", .function(.add, [.keyPath(["stars"]), .constant(.integer(1))]),
                    whole: BatchSQL.WholeNumbers(stars, of: entity))
            ], of: .condition)
        #expect(
            update.rendered(by: OtherDialect()).text == """
                UPDATE [zreview] AS target SET [zstars] = (SELECT whole((t0.[zstars] + $1)) FROM [zreview] t0 LEFT OUTER \
                JOIN [zproduct] t1 ON t0.[zproduct] = t1.id WHERE t0.id = target.id), version = target.version + 1 WHERE \
                target.id IN (SELECT t0.id FROM [zreview] t0 LEFT OUTER JOIN [zproduct] t1 ON t0.[zproduct] = t1.id WHERE \
                t1.[zprice] > $2)
                """)
    }

    @Test("A batch computes all values of other rows before it changes one, in SQLite")
    func batchOfOtherRows() throws {
        let entity = try #require(schema.layout.entityByName["Review"])
        let sql = try BatchSQL(schema: schema, plan: FetchPlan(entity: entity))
        let update = try sql.update(
            [.expression(column: "ZTEXT", .keyPath(["product", "name"]))], of: .condition, computesFirst: true)
        #expect(
            update.rendered(by: SQLiteDialect()).text == """
                UPDATE ZREVIEW AS target SET ZTEXT = new.value0, Z_OPT = target.Z_OPT + 1 FROM (SELECT t0.Z_PK AS row, \
                t1.ZNAME AS value0 FROM ZREVIEW t0 LEFT OUTER JOIN ZPRODUCT t1 ON t0.ZPRODUCT = t1.Z_PK) AS new WHERE \
                target.Z_PK = new.row
                """)
    }

    @Test("A batch leaves out what is not a whole number, in SQLite only")
    func batchOfWhatFits() throws {
        let entity = try #require(schema.layout.entityByName["Review"])
        let stars = entity.slots[try #require(entity.slotIndex(forName: "stars"))]
        func assignment(_ path: [String]) -> BatchSQL.Assignment {
            .expression(
                column: "ZSTARS", .function(.add, [.keyPath(path), .constant(.integer(1))]),
                whole: BatchSQL.WholeNumbers(stars, of: entity))
        }
        let sql = try BatchSQL(schema: schema, plan: FetchPlan(entity: entity))
        let update = try #require(
            try sql.updateWhatFits([assignment(["stars"])], of: .condition, SQLiteDialect.holdsWholeNumber))
        #expect(
            update.rendered(by: SQLiteDialect()).text == """
                UPDATE ZREVIEW AS t0 SET ZSTARS = (t0.ZSTARS + ?), Z_OPT = t0.Z_OPT + 1 WHERE (((t0.ZSTARS + ?)) IS NULL OR \
                +((t0.ZSTARS + ?)) BETWEEN -32768 AND 32767 AND +((t0.ZSTARS + ?)) = CAST((t0.ZSTARS + ?) AS INTEGER))
                """)
        #expect(sql.count?.rendered(by: SQLiteDialect()).text == "SELECT COUNT(*) FROM ZREVIEW t0")
        // Who selects rows by a predicate does not know how many there are.
        let selected = try BatchSQL(
            schema: schema, plan: FetchPlan(entity: entity),
            predicate: predicateTree(of: NSPredicate(format: "stars > 2")))
        #expect(
            try selected.updateWhatFits([assignment(["stars"])], of: .condition, SQLiteDialect.holdsWholeNumber) == nil)
        #expect(selected.count == nil)
        // Values of other rows are read by the statement that asks a function.
        #expect(
            try BatchSQL(schema: schema, plan: FetchPlan(entity: entity)).updateWhatFits(
                [assignment(["product", "price"])], of: .condition, SQLiteDialect.holdsWholeNumber) == nil)
    }
}

extension SQLFragment {
    fileprivate static func page(_ limit: Int64, _ offset: Int64) -> SQLFragment {
        SQLFragment(.page(limit: .value(.integer(limit)), offset: .value(.integer(offset))))
    }
}
