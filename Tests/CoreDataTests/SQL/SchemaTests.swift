import Foundation
import PredicateFormat
import SQLiteConnection
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

private typealias NSExpression = PredicateFormat.NSExpression

@Suite("A model as tables")
struct SchemaTests {
    private func creation(_ model: NSManagedObjectModel) throws -> [String] {
        let schema = SQLSchema(layout: try model.compiledLayout())
        return Array(try schema.creationStatements().dropLast(StoreTables.bookkeeping.count))
    }

    private func text(_ model: NSManagedObjectModel) throws -> String {
        try creation(model).joined(separator: "\n")
    }

    /// What Apple's Core Data wrote into a fixture's `sqlite_master`, history left out.
    private func fixtureCreation(_ path: String) throws -> [String] {
        guard let fixtures else { return [] }
        let connection = try Connection(path: fixtures.appendingPathComponent(path).path, mode: .immutable)
        let statement = try connection.prepare(
            "SELECT sql FROM sqlite_master WHERE sql NOT NULL AND tbl_name NOT LIKE 'A%' ORDER BY rowid")
        var result: [String] = []
        while try statement.step() { result.append(statement.string(at: 0)) }
        return result
    }

    @Test("The users' model becomes Apple's schema", .enabled(if: fixtures != nil, fixturesAreAbsent))
    func users() throws {
        #expect(
            try creation(FixtureModel.users()) + StoreTables.bookkeeping
                == fixtureCreation("users/SampleModel3_V1.sqlite"))
    }

    @Test(
        "The cars' model, with inheritance and constraints, becomes Apple's schema",
        .enabled(if: fixtures != nil, fixturesAreAbsent))
    func cars() throws {
        #expect(
            try creation(FixtureModel.cars()) + StoreTables.bookkeeping == fixtureCreation("cars/SampleModel_V1.sqlite")
        )
    }

    @Test(
        "The bookmarks' model, with ordered relationships and indexes, becomes Apple's schema",
        .enabled(if: fixtures != nil, fixturesAreAbsent))
    func bookmarks() throws {
        let made = try creation(FixtureModel.bookmarks()) + StoreTables.bookkeeping
        #expect(try made == fixtureCreation("bookmarks/Bookmarks_V3.sqlite"))
    }

    @Test(
        "The books' model, with a derived attribute kept by triggers, becomes Apple's schema",
        .enabled(if: fixtures != nil, fixturesAreAbsent))
    func books() throws {
        let pagesCount = makeDerived(
            "pagesCount", .integer64AttributeType,
            NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: "pages")]))
        let made = try creation(FixtureModel.books(pagesCount: pagesCount)) + StoreTables.bookkeeping
        #expect(try made == fixtureCreation("books/SampleModel2_V1.sqlite"))
    }

    @Test("Columns stand in groups by type; within a group attributes by name, then relationships, then order keys")
    func columnOrder() throws {
        let model = makeModel(
            makeEntity(
                "Asset", makeAttribute("url", .URIAttributeType), makeAttribute("data", .binaryDataAttributeType),
                makeAttribute("name", .stringAttributeType), makeAttribute("weight", .floatAttributeType),
                makeAttribute("price", .decimalAttributeType), makeAttribute("added", .dateAttributeType),
                makeAttribute("token", .UUIDAttributeType), makeAttribute("size", .integer32AttributeType),
                makeAttribute("flag", .booleanAttributeType), makeToOne("album", "Album", inverse: "assets")),
            makeEntity("Album", makeToMany("assets", "Asset", inverse: "album", ordered: true)))
        #expect(
            try text(model) == """
                CREATE TABLE ZALBUM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )
                CREATE TABLE ZASSET ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZFLAG INTEGER, \
                ZSIZE INTEGER, ZALBUM INTEGER, Z_FOK_ALBUM INTEGER, ZADDED TIMESTAMP, ZWEIGHT FLOAT, ZPRICE DECIMAL, \
                ZNAME VARCHAR, ZTOKEN BLOB, ZURL VARCHAR, ZDATA BLOB )
                CREATE INDEX ZASSET_ZALBUM_INDEX ON ZASSET (ZALBUM)
                """)
    }

    @Test("A many-to-many relationship has a join table, named after the entity that comes first by name")
    func manyToMany() throws {
        let model = makeModel(
            makeEntity("Tag", makeToMany("notes", "Note", inverse: "tags")),
            makeEntity("Note", makeToMany("tags", "Tag", inverse: "notes")))
        #expect(
            try text(model) == """
                CREATE TABLE ZNOTE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )
                CREATE TABLE Z_1TAGS ( Z_1NOTES INTEGER, Z_2TAGS INTEGER, PRIMARY KEY (Z_1NOTES, Z_2TAGS) )
                CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )
                CREATE INDEX Z_1TAGS_Z_2TAGS_INDEX ON Z_1TAGS (Z_2TAGS, Z_1NOTES)
                """)
    }

    @Test("An ordered many-to-many relationship has its order keys in the join table")
    func orderedManyToMany() throws {
        let model = makeModel(
            makeEntity("Album", makeToMany("assets", "Asset", inverse: "albums", ordered: true)),
            makeEntity("Asset", makeToMany("albums", "Album", inverse: "assets")))
        let lines = try creation(model)
        #expect(
            lines[1] == """
                CREATE TABLE Z_1ASSETS ( Z_1ALBUMS INTEGER, Z_2ASSETS INTEGER, Z_FOK_2ASSETS INTEGER, \
                PRIMARY KEY (Z_1ALBUMS, Z_2ASSETS) )
                """)
    }

    @Test("A relationship that is its own inverse has the column REFLEXIVE")
    func reflexive() throws {
        let model = makeModel(makeEntity("Person", makeToMany("friends", "Person", inverse: "friends")))
        #expect(
            try creation(model)[1]
                == "CREATE TABLE Z_1FRIENDS ( Z_1FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_1FRIENDS, REFLEXIVE) )"
        )
    }

    @Test("Properties of sibling entities that share a name get digits")
    func collisions() throws {
        let contact = makeEntity("Contact", makeAttribute("name", .stringAttributeType))
        let group = makeEntity("Group", makeAttribute("name", .stringAttributeType))
        let record = makeEntity("Record", abstract: true).with(sub: contact, group)
        #expect(
            try creation(makeModel(record, contact, group))[0] == """
                CREATE TABLE ZRECORD ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZNAME1 VARCHAR )
                """)
    }

    @Test(
        "A composite attribute has a column for each element, under its own name and in the order of the elements, however deep"
    )
    func composites() throws {
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        let point = NSCompositeAttributeDescription()
        point.name = "point"
        point.elements = [makeAttribute("y", .doubleAttributeType), makeAttribute("x", .doubleAttributeType)]
        place.elements = [makeAttribute("city", .stringAttributeType), point]
        #expect(
            try creation(makeModel(makeEntity("Quake", place)))[0] == """
                CREATE TABLE ZQUAKE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZY FLOAT, ZX FLOAT, \
                ZCITY VARCHAR )
                """)
    }

    @Test("An element takes its name before the attributes that come after its composite by name")
    func compositeCollisions() throws {
        let author = NSCompositeAttributeDescription()
        author.name = "author"
        author.elements = [
            makeAttribute("person", .stringAttributeType), makeAttribute("year", .stringAttributeType),
            makeAttribute("id", .UUIDAttributeType),
        ]
        let model = makeModel(
            makeEntity(
                "Drink", author, makeAttribute("id", .UUIDAttributeType), makeAttribute("name", .stringAttributeType)))
        #expect(
            try creation(model)[0] == """
                CREATE TABLE ZDRINK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPERSON VARCHAR, ZYEAR VARCHAR, \
                ZNAME VARCHAR, ZID BLOB, ZID1 BLOB )
                """)
    }

    @Test("A to-many relationship without inverse is a column of its destination, with the number of its entity")
    func owners() throws {
        let model = makeModel(
            makeEntity("Drink", makeToMany("spec", "Ingredient", inverse: nil)),
            makeEntity(
                "Ingredient", makeAttribute("value", .doubleAttributeType), makeToOne("base", "Drink", inverse: nil)),
            makeEntity("Menu", makeToMany("spec", "Ingredient", inverse: nil, ordered: true)))
        #expect(
            try text(model) == """
                CREATE TABLE ZDRINK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )
                CREATE TABLE ZINGREDIENT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZBASE INTEGER, \
                Z1SPEC INTEGER, Z3SPEC INTEGER, Z_FOK_3SPEC INTEGER, ZVALUE FLOAT )
                CREATE TABLE ZMENU ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )
                CREATE INDEX ZINGREDIENT_ZBASE_INDEX ON ZINGREDIENT (ZBASE)
                CREATE INDEX ZINGREDIENT_Z1SPEC_INDEX ON ZINGREDIENT (Z1SPEC)
                CREATE INDEX ZINGREDIENT_Z3SPEC_INDEX ON ZINGREDIENT (Z3SPEC)
                """)
    }

    @Test("Of a many-to-many relationship that is ordered at both ends, the order keys stand as the keys do")
    func bothOrdered() throws {
        let model = makeModel(
            makeEntity("Conversation", makeToMany("members", "User", inverse: "conversations", ordered: true)),
            makeEntity("User", makeToMany("conversations", "Conversation", inverse: "members", ordered: true)))
        #expect(
            try creation(model)[1] == """
                CREATE TABLE Z_1MEMBERS ( Z_1CONVERSATIONS INTEGER, Z_2MEMBERS INTEGER, Z_FOK_1CONVERSATIONS INTEGER, \
                Z_FOK_2MEMBERS INTEGER, PRIMARY KEY (Z_1CONVERSATIONS, Z_2MEMBERS) )
                """)
    }

    @Test("Names that are not plain identifiers are quoted")
    func quoting() throws {
        #expect(quoted("ZNAME") == "ZNAME")
        #expect(quoted("ZA \"B\"") == "\"ZA \"\"B\"\"\"")
        #expect(quoted("ZÜBER") == "\"ZÜBER\"")
    }

    @Test("An existing store's entity numbers win, and show in the names that contain them")
    func givenNumbers() throws {
        let layout = try FixtureModel.cars().compiledLayout()
        let schema = SQLSchema(layout: layout, numbers: ["Car": 7, "SportCar": 9, "ExpensiveSportCar": 8, "Person": 3])
        let rows = schema.primaryKeyRows.map { "\($0.number) \($0.name) \($0.superNumber)" }
        #expect(rows == ["3 Person 0", "7 Car 0", "8 ExpensiveSportCar 9", "9 SportCar 7"])
        #expect(schema.mapping(number: 9)?.layout.name == "SportCar")
        #expect(schema.mapping(number: 9)?.numbers == [8, 9])
    }

    @Test("A configuration has the tables of its entities only")
    func configuration() throws {
        let schema = SQLSchema(layout: try FixtureModel.cars().compiledLayout(), entityNames: ["Person"])
        #expect(schema.tables.map(\.name) == ["ZPERSON"])
        #expect(schema.primaryKeyRows.map(\.name) == ["Person"])
    }
}
