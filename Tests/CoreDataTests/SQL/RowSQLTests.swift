import Foundation
import Testing

@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

extension SQLSchema {
    /// The mapping of an entity of a test's model.
    func mapping(_ entity: String) throws -> EntityMapping {
        try #require(layout.entityByName[entity].flatMap { mapping(of: $0) })
    }
}

@Suite("Rows as SQL")
struct RowSQLTests {
    private let schema: SQLSchema

    init() throws { schema = try shop() }

    @Test("Columns of one row are read, and cleared where the row is as it was")
    func columns() {
        #expect(ColumnSQL.select(["ZA", "ZB"], in: "ZCAR").sqlite.text == "SELECT ZA, ZB FROM ZCAR WHERE Z_PK = ?")
        #expect(
            ColumnSQL.clear(["ZA", "ZB"], in: "ZCAR").other
                == "UPDATE [zcar] SET [za] = NULL, [zb] = NULL WHERE id = $1 AND version = $2")
        #expect(ColumnSQL.resetVersions(in: "ZCAR").sqlite.text == "UPDATE ZCAR SET Z_OPT = 1 WHERE Z_OPT <> 1")
        #expect(
            ColumnSQL.setMissingVersion(in: "ZCAR").sqlite.text
                == "UPDATE ZCAR SET Z_OPT = 0 WHERE Z_PK = ? AND Z_OPT IS NULL")
    }

    @Test("Rows are selected by a value of a column, and by several")
    func selections() throws {
        let mapping = try schema.mapping("Tag")
        let column = try #require(mapping.column(named: "name"))
        let shape = RowShape([mapping])
        #expect(
            RowSQL.select(mapping, shape: shape, where: column).sqlite.text
                == "SELECT t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZTAG t0 WHERE t0.ZNAME = ?")
        #expect(
            RowSQL.select(mapping, shape: shape, where: column, isAmong: 3).other
                == "SELECT t0.id, t0.version, t0.[zname] FROM [ztag] t0 WHERE t0.[zname] IN ($1, $2, $3)")
    }

    @Test("Rows that may be there take the new values, or stay")
    func upserts() throws {
        let mapping = try schema.mapping("Tag")
        #expect(
            RowSQL.insertOrUpdate(mapping, slots: nil).sqlite.text == """
                INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET \
                ZNAME = excluded.ZNAME, Z_OPT = Z_OPT + 1 RETURNING Z_PK
                """)
        #expect(
            RowSQL.insertUnlessThere(mapping).sqlite.text
                == "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING Z_PK"
        )
    }

    @Test("An object that comes to an ordered relationship has no place there yet")
    func places() throws {
        let page = makeEntity(
            "Page", makeAttribute("text", .stringAttributeType), makeToOne("book", "Book", inverse: "pages"))
        let book = makeEntity("Book", makeToMany("pages", "Page", inverse: "book", ordered: true))
        let mapping = try SQLSchema(layout: try makeModel(book, page).compiledLayout()).mapping("Page")
        #expect(
            RowSQL.update(mapping, slots: [0, 1]).sqlite.text == """
                UPDATE ZPAGE SET ZTEXT = ?, ZBOOK = ?, Z_OPT = ?, Z_FOK_BOOK = NULL WHERE Z_PK = ? AND Z_OPT = ?
                """)
        #expect(
            RowSQL.insertOrUpdate(mapping, slots: [1]).sqlite.text == """
                INSERT INTO ZPAGE (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZBOOK) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET \
                ZBOOK = excluded.ZBOOK, Z_FOK_BOOK = NULL, Z_OPT = Z_OPT + 1 RETURNING Z_PK
                """)
    }

    @Test("References that lead to no row are selected by an outer join")
    func dangling() throws {
        let (product, category, tag) = try (
            schema.mapping("Product"), schema.mapping("Category"), schema.mapping("Tag")
        )
        let column = try #require(product.column(named: "category"))
        #expect(
            DanglingReferenceSQL.toOne(column, of: product, destination: category).sqlite.text == """
                SELECT t0.Z_PK, t0.ZCATEGORY FROM ZPRODUCT t0 LEFT JOIN ZCATEGORY t1 ON t1.Z_PK = t0.ZCATEGORY \
                WHERE t0.Z_ENT = 2 AND t0.ZCATEGORY IS NOT NULL AND t1.Z_PK IS NULL
                """)
        let review = try schema.mapping("Review")
        #expect(
            DanglingReferenceSQL.toOne(
                try #require(review.column(named: "product")), of: review, destination: product
            ).sqlite.text == """
                SELECT t0.Z_PK, t0.ZPRODUCT FROM ZREVIEW t0 LEFT JOIN ZPRODUCT t1 ON t1.Z_PK = t0.ZPRODUCT \
                AND t1.Z_ENT IN (2, 3) WHERE t0.Z_ENT = 4 AND t0.ZPRODUCT IS NOT NULL AND t1.Z_PK IS NULL
                """)
        guard case .joinTable(let join)? = product.toManys.compactMap({ $0 }).last else {
            Issue.record("products have no tags")
            return
        }
        #expect(
            DanglingReferenceSQL.joinTable(join, destination: tag).other == """
                SELECT t0.[z_2products], t0.[z_5tags] FROM [z_2tags] t0 LEFT JOIN [ztag] t1 ON t1.id = t0.[z_5tags] \
                WHERE t0.[z_5tags] IS NOT NULL AND t1.id IS NULL
                """)
    }

    @Test("Values that are in files are recognized by their first byte")
    func files() {
        #expect(
            ExternalFileSQL.references("ZDATA", in: "ZPHOTO").sqlite.text == """
                SELECT ZDATA FROM ZPHOTO WHERE typeof(ZDATA) = 'blob' AND length(ZDATA) BETWEEN 37 AND 64 \
                AND substr(ZDATA, 1, 1) = X'02'
                """)
        #expect(
            ExternalFileSQL.references("ZDATA", in: "ZPHOTO", where: KeyTableSQL("temp.KEYS").selects).other
                == "SELECT t.[zdata] FROM [zphoto] t WHERE get_byte(t.[zdata], 0) = 2 AND t.id IN (SELECT id FROM temp.KEYS)"
        )
    }

    @Test("Rows are read without a model")
    func raw() {
        #expect(
            RawRowSQL.rows(in: "ZCAR", ofEntity: 3, isOrdered: true).sqlite.text
                == "SELECT * FROM ZCAR WHERE Z_ENT = 3 ORDER BY Z_PK")
        #expect(RawRowSQL.rows(in: "Z_1TAGS", ofEntity: nil, isOrdered: false).sqlite.text == "SELECT * FROM Z_1TAGS")
        #expect(RawRowSQL.count(in: "ZCAR", ofEntity: 3).sqlite.text == "SELECT COUNT(*) FROM ZCAR WHERE Z_ENT = 3")
    }

    @Test("A batch collects keys in a table")
    func keys() throws {
        let keys = KeyTableSQL("temp.KEYS")
        let mapping = try schema.mapping("Tag")
        #expect(keys.clear.sqlite.text == "DELETE FROM temp.KEYS")
        #expect(keys.insert.sqlite.text == "INSERT INTO temp.KEYS (Z_PK) VALUES (?) ON CONFLICT DO NOTHING")
        #expect(keys.fill("SELECT 1, 2").other == "INSERT INTO temp.KEYS (id, kind) SELECT 1, 2")
        #expect(
            keys.complete(from: mapping).map(\.sqlite.text) == [
                "DELETE FROM temp.KEYS WHERE Z_PK NOT IN (SELECT Z_PK FROM ZTAG)",
                "UPDATE temp.KEYS AS k SET Z_ENT = (SELECT t.Z_ENT FROM ZTAG t WHERE t.Z_PK = k.Z_PK)",
            ])
        #expect(keys.count.sqlite.text == "SELECT COUNT(*) FROM temp.KEYS WHERE Z_CASCADED IS NULL")
        #expect(keys.rows.sqlite.text == "SELECT Z_PK, Z_ENT FROM temp.KEYS WHERE Z_CASCADED IS NULL ORDER BY Z_PK")
        #expect(keys.delete(from: "ZTAG").sqlite.text == "DELETE FROM ZTAG WHERE Z_PK IN (SELECT Z_PK FROM temp.KEYS)")
    }

    @Test("Delete rules select the rows that a deleted row leads to")
    func deleteRules() throws {
        let (category, product) = try (schema.mapping("Category"), schema.mapping("Product"))
        let products = try #require(category.layout.relationship(named: "products"))
        let keys = KeyTableSQL("temp.CATEGORIES")
        let rule = BatchDeletionSQL(products, of: category, to: product, keys: keys)
        let others = KeyTableSQL("temp.PRODUCTS")
        #expect(
            rule.cascade(into: others, round: 1)?.sqlite.text == """
                INSERT INTO temp.PRODUCTS (Z_PK, Z_ENT, Z_CASCADED) SELECT t.Z_PK, t.Z_ENT, ? FROM ZPRODUCT t WHERE \
                t.ZCATEGORY IN (SELECT Z_PK FROM temp.CATEGORIES WHERE Z_ENT = 1 AND Z_CASCADED IS NULL) \
                ON CONFLICT DO NOTHING
                """)
        #expect(
            rule.remaining(others)?.sqlite.text == """
                SELECT 1 FROM ZPRODUCT t WHERE t.ZCATEGORY IN (SELECT Z_PK FROM temp.CATEGORIES WHERE Z_ENT = 1) AND \
                t.Z_PK NOT IN (SELECT Z_PK FROM temp.PRODUCTS) LIMIT 1
                """)
    }

    @Test("A delete rule is followed from the rows that the round before added, with the same statement in each round")
    func rounds() throws {
        let category = try schema.mapping("Category")
        let children = try #require(category.layout.relationship(named: "children"))
        let keys = KeyTableSQL("temp.CATEGORIES")
        let rule = BatchDeletionSQL(children, of: category, to: category, keys: keys)
        for round in 2...3 {
            let statement = try #require(rule.cascade(into: keys, round: round)?.sqlite)
            #expect(
                statement.text == """
                    INSERT INTO temp.CATEGORIES (Z_PK, Z_ENT, Z_CASCADED) SELECT t.Z_PK, t.Z_ENT, ? FROM ZCATEGORY t \
                    WHERE t.ZPARENT IN (SELECT Z_PK FROM temp.CATEGORIES WHERE Z_ENT = 1 AND Z_CASCADED = ?) \
                    ON CONFLICT DO NOTHING
                    """)
            #expect(try statement.values() == [.integer(Int64(round)), .integer(Int64(round - 1))])
        }
    }

    @Test("Metadata and entities are read from the tables of the format")
    func bookkeeping() throws {
        #expect(StoreTablesSQL.metadata.sqlite.text == "SELECT Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 1")
        #expect(
            StoreTablesSQL.insertMetadata.sqlite.text
                == "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)")
        #expect(
            StoreTablesSQL.updateMetadataAndUUID.sqlite.text
                == "UPDATE Z_METADATA SET Z_PLIST = ?, Z_UUID = IFNULL(?, Z_UUID)")
        #expect(
            StoreTablesSQL.updateMetadataAndUUID.other
                == "UPDATE Z_METADATA SET Z_PLIST = $1, Z_UUID = coalesce($2, Z_UUID)")
        #expect(
            StoreTablesSQL.entities.sqlite.text == """
                SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_NAME IS NOT NULL AND Z_ENT < 16001 ORDER BY Z_NAME
                """)
        #expect(
            StoreTablesSQL.greatestKey.sqlite.text == "SELECT MAX(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_ENT < 16001")
        #expect(
            StoreTablesSQL.hasOnlyUnknownEntities(try schema.mapping("Product")).sqlite.text == """
                SELECT EXISTS (SELECT 1 FROM ZPRODUCT) AND NOT EXISTS (SELECT 1 FROM ZPRODUCT WHERE Z_ENT IN (2, 3))
                """)
    }
}
