import PredicateFormat
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

private typealias NSExpression = PredicateFormat.NSExpression

/// A shop: products with a category, reviews by people, tags; electronic products are a subentity.
func shop() throws -> SQLSchema {
    let device = makeEntity("Device", makeAttribute("voltage", .integer16AttributeType))
    let product = makeEntity(
        "Product", makeAttribute("name", .stringAttributeType), makeAttribute("price", .decimalAttributeType),
        makeAttribute("stock", .integer32AttributeType), makeAttribute("added", .dateAttributeType),
        makeToOne("category", "Category", inverse: "products"), makeToMany("reviews", "Review", inverse: "product"),
        makeToMany("tags", "Tag", inverse: "products")
    ).with(sub: device)
    let category = makeEntity(
        "Category", makeAttribute("name", .stringAttributeType), makeToOne("parent", "Category", inverse: "children"),
        makeToMany("children", "Category", inverse: "parent"), makeToMany("products", "Product", inverse: "category"))
    let review = makeEntity(
        "Review", makeAttribute("stars", .integer16AttributeType), makeAttribute("text", .stringAttributeType),
        makeToOne("product", "Product", inverse: "reviews"))
    let tag = makeEntity(
        "Tag", makeAttribute("name", .stringAttributeType), makeToMany("products", "Product", inverse: "tags"))
    let model = makeModel(product, device, category, review, tag)
    return SQLSchema(layout: try model.compiledLayout())
}

@Suite("Fetches as SQL")
struct FetchSQLTests {
    let schema: SQLSchema

    init() throws { schema = try shop() }

    private func plan(_ entity: String) throws -> FetchPlan {
        FetchPlan(entity: try #require(schema.layout.entityByName[entity]))
    }

    /// The WHERE clause of a predicate, and what is bound.
    private func condition(_ predicate: NSPredicate, of entity: String = "Product") throws -> (String, [SQLValue]) {
        let prepared = try preparedPredicate(of: predicate)
        let fetch = try FetchSQL(schema: schema).statement(
            plan(entity), result: .count, predicate: prepared.skeleton, arguments: prepared.arguments)
        let text = fetch.sql.sqlite.text
        let start = try #require(text.range(of: " WHERE "))
        return (
            String(text[start.upperBound...]),
            try fetch.sql.sqlite.values(
                BindingContext(arguments: prepared.arguments, store: StoreIdentity(uuid: "S")))
        )
    }

    private func whole(_ predicate: NSPredicate, of entity: String = "Product") throws -> String {
        let fetch = try FetchSQL(schema: schema).statement(
            plan(entity), result: .identifiers, predicate: predicateTree(of: predicate))
        return fetch.sql.sqlite.text
    }

    // MARK: What is selected

    @Test("Rows are selected by their keys, version and columns in the order of the slots")
    func rows() throws {
        let fetch = try FetchSQL(schema: schema).statement(plan("Review"), result: .rows)
        #expect(
            fetch.sql.sqlite.text
                == "SELECT t0.Z_PK, t0.Z_OPT, t0.ZSTARS, t0.ZTEXT, t0.ZPRODUCT, t0.Z2_PRODUCT FROM ZREVIEW t0")
    }

    @Test("Rows of an entity with subentities are selected with Z_ENT and the subentities' columns")
    func rowsOfSubentities() throws {
        let fetch = try FetchSQL(schema: schema).statement(plan("Product"), result: .rows)
        #expect(
            fetch.sql.sqlite.text == """
                SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZNAME, t0.ZPRICE, t0.ZSTOCK, t0.ZADDED, t0.ZCATEGORY, t0.ZVOLTAGE \
                FROM ZPRODUCT t0
                """)
    }

    @Test("A subentity's rows are told apart by Z_ENT, and so are an entity's own when its subentities are left out")
    func entityFilter() throws {
        #expect(
            try FetchSQL(schema: schema).statement(plan("Device"), result: .count).sql.sqlite.text
                == "SELECT COUNT(*) FROM ZPRODUCT t0 WHERE t0.Z_ENT = 3")
        var own = try plan("Product")
        own.includesSubentities = false
        #expect(
            try FetchSQL(schema: schema).statement(own, result: .identifiers).sql.sqlite.text
                == "SELECT t0.Z_PK, t0.Z_ENT FROM ZPRODUCT t0 WHERE t0.Z_ENT = 2")
    }

    @Test("Limit and offset are bound")
    func limit() throws {
        var page = try plan("Tag")
        page.limit = 20
        page.offset = 40
        let fetch = try FetchSQL(schema: schema).statement(page, result: .identifiers)
        #expect(fetch.sql.sqlite.text == "SELECT t0.Z_PK FROM ZTAG t0 LIMIT ? OFFSET ?")
        #expect(try fetch.sql.sqlite.values(BindingContext(limit: 20, offset: 40)) == [.integer(20), .integer(40)])
        let count = try FetchSQL(schema: schema).statement(page, result: .count)
        #expect(count.sql.sqlite.text == "SELECT COUNT(*) FROM (SELECT 1 FROM ZTAG t0 LIMIT ? OFFSET ?)")
    }

    @Test("Sorting joins the tables it needs and names its collations")
    func sorting() throws {
        let terms = [
            SortTerm(keyPath: ["category", "name"], ascending: true, comparison: .localizedStandard),
            SortTerm(keyPath: ["price"], ascending: false),
        ]
        let fetch = try FetchSQL(schema: schema).statement(plan("Product"), result: .identifiers, sortTerms: terms)
        #expect(
            fetch.sql.sqlite.text == """
                SELECT t0.Z_PK, t0.Z_ENT FROM ZPRODUCT t0 LEFT OUTER JOIN ZCATEGORY t1 ON t0.ZCATEGORY = t1.Z_PK \
                ORDER BY t1.ZNAME COLLATE NSCollateFinderlike, t0.ZPRICE DESC
                """)
    }

    @Test("Dictionaries: key paths, computed values, groups, what restricts them, distinct")
    func dictionaries() throws {
        var request = try plan("Review")
        let average = NSExpression(forFunction: "average:", arguments: [NSExpression(forKeyPath: "stars")])
        request.columns = [.keyPath("product.name"), .expression(name: "mean", average, .doubleAttributeType)]
        request.groupBy = ["product.name"]
        request.isDistinct = true
        let having = predicateTree("count:(stars) > 2")
        let fetch = try FetchSQL(schema: schema).statement(request, result: .dictionaries, having: having)
        #expect(
            fetch.sql.sqlite.text == """
                SELECT DISTINCT t1.ZNAME, AVG(t0.ZSTARS) FROM ZREVIEW t0 LEFT OUTER JOIN ZPRODUCT t1 ON \
                t0.ZPRODUCT = t1.Z_PK GROUP BY t1.ZNAME HAVING COUNT(t0.ZSTARS) > ?
                """)
        #expect(fetch.columns.map(\.name) == ["product.name", "mean"])
    }

    private func predicateTree(_ format: String) -> PredicateTree {
        (try? PredicateFormat.predicateTree(of: NSPredicate(format: format))) ?? .constant(false)
    }

    private func predicateTree(of predicate: NSPredicate) throws -> PredicateTree {
        try PredicateFormat.predicateTree(of: predicate)
    }

    // MARK: Comparisons

    @Test("Comparisons bind their values as the column has them")
    func comparisons() throws {
        let date = Date(timeIntervalSinceReferenceDate: 12.5)
        let (text, values) = try condition(
            NSPredicate(format: "stock >= 3 AND added < %@ AND price == %@", date, Decimal(2)))
        #expect(text == "t0.ZSTOCK >= ? AND t0.ZADDED < ? AND t0.ZPRICE = ?")
        #expect(values == [.integer(3), .double(12.5), .text("2")])
    }

    @Test("OR and NOT get parentheses where they need them")
    func precedence() throws {
        #expect(
            try condition(NSPredicate(format: "(stock == 1 OR stock == 2) AND NOT (name == 'a' OR name == 'b')")).0
                == "(t0.ZSTOCK = ? OR t0.ZSTOCK = ?) AND NOT IFNULL(t0.ZNAME = ? OR t0.ZNAME = ?, 0)")
    }

    @Test("Nil is IS NULL; what differs from a value may be nil")
    func null() throws {
        #expect(try condition(NSPredicate(format: "name == nil")).0 == "t0.ZNAME IS NULL")
        #expect(try condition(NSPredicate(format: "name != %@", NSNull())).0 == "t0.ZNAME IS NOT NULL")
        #expect(try condition(NSPredicate(format: "name != 'a'")).0 == "t0.ZNAME <> ? OR t0.ZNAME IS NULL")
        #expect(try condition(NSPredicate(format: "stock < nil")).0 == "0")
    }

    @Test("Two columns are equal when both are nil")
    func columns() throws {
        #expect(
            try condition(NSPredicate(format: "name == category.name")).0
                == "t0.ZNAME IS t1.ZNAME")
        #expect(try condition(NSPredicate(format: "name != category.name")).0 == "t0.ZNAME IS NOT t1.ZNAME")
    }

    @Test("BETWEEN and IN keep their names")
    func ranges() throws {
        let (between, bounds) = try condition(NSPredicate(format: "stock BETWEEN {1, 9}"))
        #expect(between == "t0.ZSTOCK BETWEEN ? AND ?")
        #expect(bounds == [.integer(1), .integer(9)])
        let (list, values) = try condition(NSPredicate(format: "name IN %@", ["a", "b", "c"]))
        #expect(list == "t0.ZNAME IN (?, ?, ?)")
        #expect(values == [.text("a"), .text("b"), .text("c")])
        #expect(try condition(NSPredicate(format: "name IN %@", [String]())).0 == "0")
    }

    @Test("Key paths through to-one relationships join each table once")
    func keyPaths() throws {
        #expect(
            try whole(NSPredicate(format: "category.parent.name == 'x' OR category.parent.name == 'y'")) == """
                SELECT t0.Z_PK, t0.Z_ENT FROM ZPRODUCT t0 LEFT OUTER JOIN ZCATEGORY t1 ON t0.ZCATEGORY = t1.Z_PK \
                LEFT OUTER JOIN ZCATEGORY t2 ON t1.ZPARENT = t2.Z_PK WHERE t2.ZNAME = ? OR t2.ZNAME = ?
                """)
    }

    @Test("Objects are compared by their keys, without a join")
    func objects() throws {
        let category = try #require(schema.layout.entityByName["Category"])
        let product = try #require(schema.layout.entityByName["Product"])
        let store = StoreIdentity(uuid: "S")
        let seven = NSManagedObjectID(layout: category, store: store, key: 7)
        let (text, values) = try condition(NSPredicate(format: "category == %@", seven))
        #expect(text == "t0.ZCATEGORY = ?")
        #expect(values == [.integer(7)])
        let nine = NSManagedObjectID(layout: product, store: store, key: 9)
        #expect(try condition(NSPredicate(format: "SELF == %@", nine)) == ("t0.Z_PK = ?", [.integer(9)]))
        #expect(
            try condition(NSPredicate(format: "SELF IN %@", [nine, seven])) == (
                "t0.Z_PK IN (?, ?)", [.integer(9), .integer(-1)]
            ))
        // An object of another table, or one that was never saved, equals nothing.
        #expect(try condition(NSPredicate(format: "category == %@", nine)).1 == [.integer(-1)])
    }

    // MARK: Texts

    @Test("BEGINSWITH is a range, so that an index helps")
    func prefix() throws {
        let (text, values) = try condition(NSPredicate(format: "name BEGINSWITH %@", "Ap"))
        #expect(text == "t0.ZNAME >= ? AND t0.ZNAME < ?")
        #expect(values == [.text("Ap"), .text("Aq")])
        #expect(try condition(NSPredicate(format: "name BEGINSWITH ''")).1 == [.text(""), .blob(Data())])
        #expect(
            try condition(NSPredicate(format: "name BEGINSWITH '\u{D7FF}'")).1 == [
                .text("\u{D7FF}"), .text("\u{E000}"),
            ])
        #expect(
            try condition(NSPredicate(format: "name BEGINSWITH %@", "a\u{10FFFF}")).1 == [
                .text("a\u{10FFFF}"), .text("b"),
            ])
    }

    @Test("BEGINSWITH is not a range of a text that is not a column's: it may have a language's order")
    func prefixOfConstants() throws {
        let (text, _) = try condition(NSPredicate(format: "TERNARY(stock > 1, 'Ab', 'x') BEGINSWITH 'a'"))
        #expect(text == "NSCoreDataStringSearch(CASE WHEN t0.ZSTOCK > ? THEN ? ELSE ? END, ?, 8, 0)")
        let (between, _) = try condition(NSPredicate(format: "TERNARY(stock > 1, 'Ab', 'x') BETWEEN {'a', 'b'}"))
        #expect(between == "CASE WHEN t0.ZSTOCK > ? THEN ? ELSE ? END BETWEEN ? AND ?")
    }

    @Test("Other string operators, and all with [cd], are compared by the function that evaluation in memory uses")
    func strings() throws {
        #expect(
            try condition(NSPredicate(format: "name BEGINSWITH[cd] 'é'")).0
                == "NSCoreDataStringSearch(t0.ZNAME, ?, 8, 3)")
        #expect(
            try condition(NSPredicate(format: "name CONTAINS 'x'")).0 == "NSCoreDataStringSearch(t0.ZNAME, ?, 99, 0)")
        #expect(
            try condition(NSPredicate(format: "name LIKE[c] 'x*'")).0 == "NSCoreDataStringSearch(t0.ZNAME, ?, 7, 1)")
        #expect(try condition(NSPredicate(format: "name ==[c] 'x'")).0 == "NSCoreDataStringSearch(t0.ZNAME, ?, 4, 1)")
        #expect(
            try condition(NSPredicate(format: "name !=[c] 'x'")).0
                == "NOT IFNULL(NSCoreDataStringSearch(t0.ZNAME, ?, 4, 1), 0)")
    }

    // MARK: To-many relationships

    @Test("ANY becomes an EXISTS selection")
    func any() throws {
        #expect(
            try condition(NSPredicate(format: "ANY reviews.stars > 3")).0
                == "EXISTS (SELECT 1 FROM ZREVIEW t1 WHERE t1.ZPRODUCT = t0.Z_PK AND t1.ZSTARS > ?)")
    }

    @Test("ALL is that none does not; NONE that none does")
    func allAndNone() throws {
        #expect(
            try condition(NSPredicate(format: "ALL reviews.stars > 3")).0 == """
                NOT (EXISTS (SELECT 1 FROM ZREVIEW t1 WHERE t1.ZPRODUCT = t0.Z_PK AND NOT IFNULL(t1.ZSTARS > ?, 0)))
                """)
        #expect(
            try condition(NSPredicate(format: "NONE reviews.stars > 3")).0
                == "NOT (EXISTS (SELECT 1 FROM ZREVIEW t1 WHERE t1.ZPRODUCT = t0.Z_PK AND t1.ZSTARS > ?))")
    }

    @Test("ANY over a many-to-many relationship goes through the join table")
    func anyManyToMany() throws {
        #expect(
            try condition(NSPredicate(format: "ANY tags.name == 'new'")).0 == """
                t0.Z_PK IN (SELECT t1.Z_2PRODUCTS FROM Z_2TAGS t1, ZTAG t2 WHERE t1.Z_5TAGS = t2.Z_PK \
                AND t2.ZNAME = ?)
                """)
    }

    @Test("ANY through two to-many relationships nests")
    func anyNested() throws {
        #expect(
            try condition(NSPredicate(format: "ANY products.reviews.stars == 5"), of: "Category").0 == """
                EXISTS (SELECT 1 FROM ZPRODUCT t1 WHERE t1.ZCATEGORY = t0.Z_PK AND \
                EXISTS (SELECT 1 FROM ZREVIEW t2 WHERE t2.ZPRODUCT = t1.Z_PK AND t2.ZSTARS = ?))
                """)
    }

    @Test("@count and its kin are subqueries with one value")
    func counts() throws {
        #expect(
            try condition(NSPredicate(format: "reviews.@count > 2")).0
                == "(SELECT COUNT(*) FROM ZREVIEW t1 WHERE t1.ZPRODUCT = t0.Z_PK) > ?")
        #expect(
            try condition(NSPredicate(format: "reviews.@avg.stars >= 4")).0
                == "(SELECT AVG(t1.ZSTARS) FROM ZREVIEW t1 WHERE t1.ZPRODUCT = t0.Z_PK) >= ?")
        #expect(
            try condition(NSPredicate(format: "reviews.@sum.stars == 0")).0
                == "IFNULL((SELECT SUM(t1.ZSTARS) FROM ZREVIEW t1 WHERE t1.ZPRODUCT = t0.Z_PK), 0) = ?")
    }

    @Test("max: and its kin of an attribute are those of all objects of the entity")
    func greatest() throws {
        #expect(
            try condition(NSPredicate(format: "stock == max(stock)")).0
                == "t0.ZSTOCK = (SELECT MAX(t1.ZSTOCK) FROM ZPRODUCT t1)")
        #expect(
            try condition(NSPredicate(format: "voltage < average(voltage)"), of: "Device").0
                == "t0.Z_ENT = 3 AND t0.ZVOLTAGE < (SELECT AVG(t1.ZVOLTAGE) FROM ZPRODUCT t1 WHERE t1.Z_ENT = 3)")
        #expect(
            try condition(NSPredicate(format: "stock == @max.stock")).0
                == "t0.ZSTOCK = (SELECT MAX(t1.ZSTOCK) FROM ZPRODUCT t1)")
    }

    @Test("SUBQUERY counts the destinations that satisfy its predicate")
    func subquery() throws {
        #expect(
            try condition(NSPredicate(format: "SUBQUERY(reviews, $r, $r.stars > 3 AND $r.text != nil).@count > 1")).0
                == """
                (SELECT COUNT(*) FROM ZREVIEW t1 WHERE t1.ZPRODUCT = t0.Z_PK AND (t1.ZSTARS > ? AND t1.ZTEXT IS NOT NULL)) > ?
                """)
    }

    @Test("An object is looked for in a to-many relationship by its key")
    func membership() throws {
        let review = try #require(schema.layout.entityByName["Review"])
        let four = NSManagedObjectID(layout: review, store: StoreIdentity(uuid: "S"), key: 4)
        let (text, values) = try condition(NSPredicate(format: "%@ IN reviews", four))
        #expect(text == "t0.Z_PK IN (SELECT t1.ZPRODUCT FROM ZREVIEW t1 WHERE t1.Z_PK = ?)")
        #expect(values == [.integer(4)])
    }

    // MARK: Expressions

    @Test("Arithmetic and functions have SQL of their own")
    func arithmetic() throws {
        #expect(try condition(NSPredicate(format: "stock * 2 + 1 > 9")).0 == "((t0.ZSTOCK * ?) + ?) > ?")
        #expect(try condition(NSPredicate(format: "price / 2 > 1")).0 == "((t0.ZPRICE * 1.0) / ?) > ?")
        #expect(try condition(NSPredicate(format: "lowercase(name) == 'x'")).0 == "NSCoreDataToLower(t0.ZNAME) = ?")
        #expect(try condition(NSPredicate(format: "added < now()")).0 == "t0.ZADDED < NSCoreDataNow()")
        #expect(try condition(NSPredicate(format: "name.length > 0")).0 == "length(t0.ZNAME) > ?")
        #expect(try condition(NSPredicate(format: "category.name.length > 0")).0 == "length(t1.ZNAME) > ?")
    }

    @Test("Predicates of one format share their text; the arguments are bound when it runs")
    func template() throws {
        let first = try preparedPredicate(of: NSPredicate(format: "name == %@", "a"))
        let second = try preparedPredicate(of: NSPredicate(format: "name == %@", "b"))
        #expect(first.key == second.key)
        let fetch = try FetchSQL(schema: schema).statement(
            plan("Product"), result: .count, predicate: first.skeleton, arguments: first.arguments)
        #expect(try fetch.sql.sqlite.values(BindingContext(arguments: second.arguments)) == [.text("b")])
    }

    // MARK: Refusals

    @Test(
        "What cannot be said in SQL is refused, naming it",
        arguments: [
            ("colour == 'red'", "no property “colour”"), ("reviews.stars > 3", "“reviews.stars”"),
            ("ANY colour.name == 'red'", "no property “colour”"), ("sqrt(stock) > 2", "sqrt:"),
        ])
    func refusals(format: String, expected: String) throws {
        let error = #expect(throws: NSError.self) { _ = try condition(NSPredicate(format: format)) }
        #expect(error?.localizedDescription.contains(expected) == true)
        #expect(error?.code == 134060)
    }
}
