import PredicateFormat
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("SQL of lists that are kept as JSON")
struct ListedSQLTests {
    private func condition(_ tree: PredicateTree, of entity: String = "Book") throws -> String {
        let shop = makeEntity("Shop", makeToMany("books", "Book", inverse: "shop"))
        let attribute = makeAttribute("cover", .binaryDataAttributeType)
        attribute.allowsExternalBinaryDataStorage = true
        let book = makeEntity(
            "Book", makeAttribute("title", .stringAttributeType), makeAttribute("tags", .binaryDataAttributeType),
            attribute, makeToOne("shop", "Shop", inverse: "books"))
        let schema = SQLSchema(layout: try makeModel(shop, book).compiledLayout())
        let fetch = try FetchSQL(schema: schema).statement(
            FetchPlan(entity: try #require(schema.layout.entityByName[entity])), result: .count, predicate: tree)
        let text = fetch.sql.sqlite.text
        return String(text[try #require(text.range(of: " WHERE ")).upperBound...])
    }

    private let tags = ExpressionTree.listed(.keyPath(["tags"]), .text)

    @Test("looks for an element in the rows that the list is")
    func element() throws {
        #expect(
            try condition(.comparison(ComparisonTree(tags, .contains, .constant(.string("x")))))
                == "EXISTS (SELECT 1 FROM PippinListed(t0.ZTAGS, 'text') t1 WHERE t1.value = ?)")
        #expect(
            try condition(.comparison(ComparisonTree(.keyPath(["title"]), .in, tags)))
                == "EXISTS (SELECT 1 FROM PippinListed(t0.ZTAGS, 'text') t1 WHERE t1.value = t0.ZTITLE)")
        #expect(
            try condition(
                .comparison(
                    ComparisonTree(
                        tags, .beginsWith, .constant(.string("x")), modifier: .any, options: .caseInsensitive)))
                    == """
                    EXISTS (SELECT 1 FROM PippinListed(t0.ZTAGS, 'text') t1 \
                    WHERE NSCoreDataStringSearch(t1.value, ?, 8, 1))
                    """)
    }

    @Test("looks for an element that is another one, where all must be one")
    func all() throws {
        #expect(
            try condition(.comparison(ComparisonTree(tags, .equalTo, .constant(.string("x")), modifier: .all)))
                == """
                NOT (EXISTS (SELECT 1 FROM PippinListed(t0.ZTAGS, 'text') t1 \
                WHERE NOT IFNULL(t1.value = ?, 0)))
                """)
    }

    @Test("counts the rows, or those that satisfy a condition")
    func counts() throws {
        #expect(
            try condition(
                .comparison(ComparisonTree(.function(.count, [tags]), .greaterThan, .constant(.integer(2)))))
                == "(SELECT COUNT(*) FROM PippinListed(t0.ZTAGS, 'text') t1) > ?")
        let some = ExpressionTree.subquery(
            of: tags, variable: "t", .comparison(ComparisonTree(.variable("t"), .equalTo, .constant(.string("x")))))
        #expect(
            try condition(
                .comparison(ComparisonTree(.path(from: some, ["@count"]), .equalTo, .constant(.integer(2)))))
                == "(SELECT COUNT(*) FROM PippinListed(t0.ZTAGS, 'text') t1 WHERE t1.value = ?) = ?")
    }

    @Test("looks into the lists of a relationship's objects")
    func relationship() throws {
        let all = ExpressionTree.listed(.keyPath(["books", "tags"]), .text)
        #expect(
            try condition(.comparison(ComparisonTree(all, .contains, .constant(.string("x")))), of: "Shop")
                == """
                EXISTS (SELECT 1 FROM ZBOOK t1 WHERE t1.ZSHOP = t0.Z_PK AND \
                EXISTS (SELECT 1 FROM PippinListed(t1.ZTAGS, 'text') t2 WHERE t2.value = ?))
                """)
    }

    @Test("is refused for bytes that may be in a file")
    func external() throws {
        let covers = ExpressionTree.listed(.keyPath(["cover"]), .text)
        #expect(throws: (any Error).self) {
            try condition(.comparison(ComparisonTree(covers, .contains, .constant(.string("x")))))
        }
    }
}
