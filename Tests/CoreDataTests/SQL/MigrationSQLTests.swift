import Foundation
import PredicateFormat
import Testing

@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Migrations as SQL")
struct MigrationSQLTests {
    private let schema: SQLSchema
    private let numbers = EntityNumbers([.init(old: 2, new: 1), .init(old: 3, new: 3)])

    init() throws { schema = try shop() }

    private func relationship(_ name: String, of entity: String) throws -> RelationshipLayout {
        try #require(schema.mapping(entity).layout.relationship(named: name))
    }

    private func pairs(_ name: String, of entity: String) throws -> StoredPairs {
        try #require(StoredPairs(relationship(name, of: entity), in: schema) { "_T_" + $0 })
    }

    // MARK: Rows

    @Test("Rows move into a new table, with the numbers that their entities have now")
    func insertion() {
        let sql = RowMoveSQL.insertion(
            into: "ZCAR", from: "_T_ZCAR", numbers: numbers,
            values: [("ZNAME", .column("ZTITLE")), ("ZWHEELS", .computed("4")), ("ZPLATE", .nothing)], extra: ["MINE"])
        #expect(
            sql.sqlite.text == """
                INSERT INTO ZCAR (Z_PK, Z_ENT, Z_OPT, ZNAME, ZWHEELS, ZPLATE, MINE) SELECT Z_PK, CASE Z_ENT WHEN 2 THEN 1 \
                WHEN 3 THEN 3 END, Z_OPT, ZTITLE, 4, NULL, MINE FROM _T_ZCAR WHERE Z_ENT IN (2, 3)
                """)
        #expect(
            RowMoveSQL.insertion(
                into: "ZCAR", from: "_T_ZCAR", numbers: EntityNumbers([.init(old: 2, new: 5)]), values: [], extra: []
            ).other == "INSERT INTO [zcar] (id, kind, version) SELECT id, 5, version FROM [_t_zcar] WHERE kind = 2")
    }

    @Test("Rows that stay take values, go, or get new numbers")
    func updates() {
        #expect(
            RowMoveSQL.update("ZCAR", numbers: numbers, values: [("ZNAME", .column("ZTITLE"))]).sqlite.text
                == "UPDATE ZCAR SET ZNAME = ZTITLE WHERE Z_ENT IN (2, 3)")
        #expect(RowMoveSQL.removal(of: [4], from: "ZCAR").sqlite.text == "DELETE FROM ZCAR WHERE Z_ENT = 4")
        #expect(
            RowMoveSQL.renumbering(of: "ZCAR", numbers.changing).sqlite.text
                == "UPDATE ZCAR SET Z_ENT = CASE Z_ENT WHEN 2 THEN 1 END WHERE Z_ENT = 2")
    }

    @Test("A value that must be there has its default where it was missing")
    func fallback() {
        #expect(MovedValue.column("ZNAME").orElse("'x'") == .computed(.call(.ifNull, "\(name: "ZNAME")", "'x'")))
        #expect(MovedValue.column("ZNAME").orElse(nil) == .column("ZNAME"))
    }

    @Test("Values are converted where their column is of another kind")
    func conversions() throws {
        let product = try schema.mapping("Product").layout
        func attribute(_ name: String) throws -> AttributeLayout {
            try #require(product.slotIndex(forName: name).flatMap { product.slots[$0].attribute })
        }
        let (name, stock) = try (attribute("name"), attribute("stock"))
        func converted(_ from: ColumnStorage, _ to: ColumnStorage, fallback: SQLFragment? = nil) -> String? {
            let value = ColumnConversion.value("ZOLD", from: name, from, to: stock, to, fallback: fallback)
            if case .computed(let sql) = value { return sql.sqlite.text }
            return nil
        }
        #expect(converted(.integer, .integer) == nil)
        #expect(converted(.data(allowsExternal: true), .data(allowsExternal: true)) == nil)
        #expect(converted(.transformable(allowsExternal: false), .transformable(allowsExternal: false)) == nil)
        #expect(converted(.double, .integer) == "CAST(ZOLD AS INTEGER)")
        #expect(converted(.integer, .double, fallback: "1.5") == "IFNULL(CAST(ZOLD AS REAL), 1.5)")
        #expect(
            converted(.data(allowsExternal: false), .data(allowsExternal: true))
                == "CASE WHEN ZOLD IS NOT NULL THEN CAST(X'01' || ZOLD AS BLOB) END")
        #expect(
            converted(.data(allowsExternal: true), .data(allowsExternal: false)) == "PippinExternalContent(ZOLD)")
    }

    @Test("What nested JSON has at a path is asked of a function")
    func nested() {
        let value = SQLFragment.call(
            .nestedValue(path: ["a", "b'c"], type: .attribute(.stringAttributeType)), "\(name: "ZJSON")")
        #expect(value.sqlite.text == #"PippinNestedValue(ZJSON, '["a","b''c"]', '700')"#)
        #expect(value.other == #"[zjson] -> <text("a.b\'c")>"#)
    }

    // MARK: Relationships

    @Test("Pairs from a foreign key fill a join table; those whose objects are gone are left out")
    func joinTable() throws {
        let pairs = try pairs("products", of: "Category")
        let sql = PairMoveSQL.insertion(
            into: "Z_1PRODUCTS",
            values: [
                ("Z_1CATEGORIES", pairs.sourceKey), ("Z_2PRODUCTS", pairs.destinationKey),
                ("Z_FOK_2PRODUCTS", StoredPairs.newOrder(partition: pairs.sourceKey, by: pairs.destinationKey)),
            ], of: pairs, where: [PairMoveSQL.exists(pairs.destinationKey, try schema.mapping("Device"))])
        #expect(
            sql.sqlite.text == """
                INSERT OR IGNORE INTO Z_1PRODUCTS (Z_1CATEGORIES, Z_2PRODUCTS, Z_FOK_2PRODUCTS) SELECT p.ZCATEGORY, p.Z_PK, \
                1024 + 1024 * row_number() OVER (PARTITION BY p.ZCATEGORY ORDER BY p.Z_PK) FROM _T_ZPRODUCT p \
                WHERE p.ZCATEGORY IS NOT NULL AND EXISTS (SELECT 1 FROM ZPRODUCT d WHERE d.Z_PK = p.Z_PK AND d.Z_ENT = 3)
                """)
        #expect(
            PairMoveSQL.insertion(
                into: "Z_1PRODUCTS", values: [("Z_1CATEGORIES", pairs.sourceKey)], of: pairs, where: []
            ).other == """
                PUT [z_1categories] INTO [z_1products] FROM (SELECT p.[zcategory] FROM [_t_zproduct] p \
                WHERE p.[zcategory] IS NOT NULL)
                """)
    }

    @Test("Pairs from a join table fill a foreign key")
    func foreignKey() throws {
        let (pairs, product) = try (pairs("products", of: "Tag"), schema.mapping("Product"))
        #expect(
            PairMoveSQL.connection(product, values: [("ZTAG", pairs.sourceKey)], of: pairs, where: []).sqlite.text
                == """
                UPDATE ZPRODUCT AS u SET ZTAG = p.Z_5TAGS FROM _T_Z_2TAGS p WHERE p.Z_5TAGS IS NOT NULL \
                AND p.Z_2PRODUCTS = u.Z_PK AND u.Z_ENT IN (2, 3)
                """)
        #expect(
            PairMoveSQL.entity("Z2_PRODUCT", of: "ZPRODUCT", in: "ZREVIEW", product).sqlite.text == """
                UPDATE ZREVIEW SET Z2_PRODUCT = (SELECT t.Z_ENT FROM ZPRODUCT t WHERE t.Z_PK = ZREVIEW.ZPRODUCT) \
                WHERE ZPRODUCT IS NOT NULL
                """)
    }

    @Test("A relationship that becomes ordered is ordered by keys")
    func order() {
        #expect(
            PairMoveSQL.order("Z_FOK_BOOK", by: "ZBOOK", in: "ZPAGE").sqlite.text == """
                UPDATE ZPAGE AS u SET Z_FOK_BOOK = o.Z_FOK FROM (SELECT Z_PK, 1024 + 1024 * row_number() OVER (PARTITION BY ZBOOK \
                ORDER BY Z_PK) AS Z_FOK FROM ZPAGE WHERE ZBOOK IS NOT NULL) o WHERE o.Z_PK = u.Z_PK
                """)
    }

    @Test("Where some objects have a place already, the others come after them")
    func partialOrder() {
        #expect(
            PairMoveSQL.order("Z_FOK_BOOK", by: "ZBOOK", in: "ZPAGE", isPartial: true).sqlite.text == """
                UPDATE ZPAGE AS u SET Z_FOK_BOOK = o.Z_FOK FROM (SELECT Z_PK, IFNULL(MAX(Z_FOK_BOOK) OVER (PARTITION BY ZBOOK), 1024) \
                + 1024 * row_number() OVER (PARTITION BY ZBOOK, Z_FOK_BOOK IS NULL ORDER BY Z_PK) AS Z_FOK FROM ZPAGE \
                WHERE ZBOOK IS NOT NULL) o WHERE o.Z_PK = u.Z_PK AND u.Z_FOK_BOOK IS NULL
                """)
        #expect(
            PairMoveSQL.furtherOrder("Z_FOK_2TAGS", of: "Z_1BOOKS", in: "Z_1TAGS", source: "p.A", destination: "p.B")
                .sqlite.text == """
                    IFNULL((SELECT MAX(j.Z_FOK_2TAGS) FROM Z_1TAGS j WHERE j.Z_1BOOKS = p.A), 1024) + 1024 * row_number() \
                    OVER (PARTITION BY p.A ORDER BY p.B)
                    """)
    }

    @Test("Owners that are gone are forgotten")
    func owners() throws {
        let owner = OwnerColumn(
            relationship: try relationship("tags", of: "Product"), name: "Z2TAGS", entityColumn: nil,
            orderColumn: "Z_FOK_2TAGS")
        #expect(
            PairMoveSQL.release(owner, in: "ZTAG", from: try schema.mapping("Device")).sqlite.text == """
                UPDATE ZTAG SET Z2TAGS = NULL, Z_FOK_2TAGS = NULL WHERE Z2TAGS IS NOT NULL AND NOT (EXISTS (SELECT 1 \
                FROM ZPRODUCT d WHERE d.Z_PK = ZTAG.Z2TAGS AND d.Z_ENT = 3))
                """)
    }

    // MARK: Values that a store computes

    @Test("Derived attributes are computed of the rows that are there")
    func derived() throws {
        let product = try schema.mapping("Product")
        func fill(_ format: String) throws -> String? {
            let derivation = try #require(Derivation(expressionTree(of: PredicateFormat.NSExpression(format: format))))
            return DerivationSQL.fill("ZMADE", derivation, product, schema)?.sqlite.text
        }
        #expect(try fill("now()") == "UPDATE ZPRODUCT SET ZMADE = NSCoreDataNow() WHERE Z_ENT IN (2, 3)")
        #expect(
            try fill("canonical:(category.name)") == """
                UPDATE ZPRODUCT SET ZMADE = (SELECT NSCoreDataCanonical(o.ZNAME) FROM ZCATEGORY o \
                WHERE o.Z_PK = ZPRODUCT.ZCATEGORY) WHERE Z_ENT IN (2, 3)
                """)
        #expect(
            try fill("reviews.stars.@sum") == """
                UPDATE ZPRODUCT SET ZMADE = (SELECT IFNULL(SUM(o.ZSTARS), 0) FROM ZREVIEW o \
                WHERE o.ZPRODUCT = ZPRODUCT.Z_PK) WHERE Z_ENT IN (2, 3)
                """)
        #expect(
            try fill("tags.@count") == """
                UPDATE ZPRODUCT SET ZMADE = (SELECT COUNT(*) FROM Z_2TAGS o WHERE o.Z_2PRODUCTS = ZPRODUCT.Z_PK) \
                WHERE Z_ENT IN (2, 3)
                """)
    }

    // MARK: Checks

    @Test("Rows that do not fit are looked for, and one is enough")
    func checks() throws {
        let product = try schema.mapping("Product")
        #expect(
            CheckSQL.strangers(in: "ZPRODUCT", among: [2, 3]).sqlite.text
                == "SELECT Z_PK FROM ZPRODUCT WHERE Z_ENT IS NULL OR NOT (Z_ENT IN (2, 3)) LIMIT 1")
        #expect(
            CheckSQL.missing("ZNAME", of: product, whereAnyOf: [["ZA", "ZB"], []]).sqlite.text == """
                SELECT Z_PK FROM ZPRODUCT WHERE Z_ENT = 2 AND (ZA IS NOT NULL OR ZB IS NOT NULL) AND FALSE \
                AND ZNAME IS NULL LIMIT 1
                """)
        #expect(
            CheckSQL.outside(.between(-5...7), "ZSTOCK", of: product).other
                == "SELECT id, CAST([zstock] AS TEXT) FROM [zproduct] "
                + "WHERE kind = 2 AND NOT ([zstock] > -6 AND [zstock] < 8) LIMIT 1")
    }

    @Test("How much there is of an entity, of a property, and of values that several rows share")
    func counts() throws {
        let (product, device) = try (schema.mapping("Product"), schema.mapping("Device"))
        #expect(RowCountSQL.rows(of: device).sqlite.text == "SELECT COUNT(*) FROM ZPRODUCT WHERE Z_ENT = 3")
        #expect(
            RowCountSQL.values(of: "name", product)?.sqlite.text
                == "SELECT COUNT(*) FROM ZPRODUCT WHERE Z_ENT IN (2, 3) AND (ZNAME IS NOT NULL)")
        #expect(
            RowCountSQL.values(of: "tags", product)?.sqlite.text
                == "SELECT COUNT(DISTINCT Z_2PRODUCTS) FROM Z_2TAGS WHERE Z_2PRODUCTS IS NOT NULL")
        let tag = try schema.mapping("Tag")
        let shared = RowCountSQL.shared([try #require(tag.column(named: "name"))], tag, limit: 6)
        #expect(
            shared.sqlite.text == """
                SELECT ZNAME, COUNT(*) FROM ZTAG WHERE ZNAME IS NOT NULL GROUP BY ZNAME HAVING COUNT(*) > 1 \
                ORDER BY MIN(Z_PK) LIMIT ?
                """)
        #expect(try shared.sqlite.values() == [.integer(6)])
    }

    // MARK: Bookkeeping

    @Test("Entities are numbered anew, and go on from the greatest key of what they were")
    func numbering() {
        #expect(NumberingSQL.removal(of: [1, 2]).sqlite.text == "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT IN (1, 2)")
        #expect(
            NumberingSQL.insertion(1, "Car's", parent: 0, continuing: [2], in: "_T_PRIMARYKEY").sqlite.text == """
                INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (1, 'Car''s', 0, IFNULL((SELECT MAX(Z_MAX) \
                FROM _T_PRIMARYKEY WHERE Z_ENT = 2), 0))
                """)
        #expect(
            NumberingSQL.insertion(2, "Van", parent: 1, continuing: [], in: "_T_PRIMARYKEY").sqlite.text
                == "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (2, 'Van', 1, 0)")
    }

    @Test("The history follows the entities' numbers and properties")
    func history() {
        #expect(HistoryMoveSQL.removal(of: [4]).sqlite.text == "DELETE FROM ACHANGE WHERE ZENTITY = 4")
        #expect(
            HistoryMoveSQL.masks(of: [1, 2]).sqlite.text == """
                UPDATE ACHANGE SET ZCOLUMNS = PippinChangedColumns(ZENTITY, ZCOLUMNS) WHERE ZCOLUMNS IS NOT NULL \
                AND ZENTITY IN (1, 2)
                """)
        #expect(
            HistoryMoveSQL.renumbering(numbers.changing).sqlite.text
                == "UPDATE ACHANGE SET ZENTITY = CASE ZENTITY WHEN 2 THEN 1 END WHERE ZENTITY = 2")
        #expect(
            HistoryMoveSQL.tombstones([(0, 1), (1, nil)], of: 3).sqlite.text
                == "UPDATE ACHANGE SET ZTOMBSTONE0 = ZTOMBSTONE1, ZTOMBSTONE1 = NULL WHERE ZENTITY = 3")
    }

    @Test("A store takes over another one's history, of the objects that became of its own")
    func transfer() {
        let sql = HistoryTransferSQL(from: "old", to: "main", entities: "_T_ENTITIES", keys: "_T_KEYS")
        #expect(sql.copy("ACHANGE").sqlite.text == "INSERT INTO main.ACHANGE SELECT * FROM old.ACHANGE")
        #expect(
            sql.numbers.map(\.sqlite.text) == [
                "DELETE FROM main.Z_PRIMARYKEY WHERE Z_ENT >= 16001",
                "INSERT INTO main.Z_PRIMARYKEY SELECT * FROM old.Z_PRIMARYKEY WHERE Z_ENT >= 16001",
            ])
        #expect(sql.entityNumbers(isOld: true).other == "SELECT Z_NAME, Z_ENT FROM [old].Z_PRIMARYKEY")
        #expect(
            sql.translation.map(\.sqlite.text) == [
                "DELETE FROM main.ACHANGE WHERE ZENTITY NOT IN (SELECT OLD FROM _T_ENTITIES)",
                """
                UPDATE main.ACHANGE SET ZENTITYPK = IFNULL((SELECT NEWPK FROM _T_KEYS WHERE OLD = ZENTITY AND \
                OLDPK = ZENTITYPK), ZENTITYPK), ZENTITY = IFNULL((SELECT NEW FROM _T_KEYS WHERE OLD = ZENTITY AND \
                OLDPK = ZENTITYPK), (SELECT NEW FROM _T_ENTITIES WHERE OLD = ZENTITY)), ZCOLUMNS = CASE WHEN ZCOLUMNS IS NOT \
                NULL THEN PippinChangedColumns(ZENTITY, IFNULL((SELECT NEW FROM _T_KEYS WHERE OLD = ZENTITY AND \
                OLDPK = ZENTITYPK), (SELECT NEW FROM _T_ENTITIES WHERE OLD = ZENTITY)), ZCOLUMNS) END
                """,
            ])
    }
}
