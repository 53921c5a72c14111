import Foundation
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Names read from a store")
struct ReconciliationTests {
    /// The schema of a store whose tables are the model's own, but for what a test changes.
    private func schema(
        _ model: NSManagedObjectModel, _ change: (inout [String: [String: String]]) -> Void
    ) throws -> SQLSchema {
        let layout = try model.compiledLayout()
        let rule = SQLSchema(layout: layout)
        var tables: [String: [String: String]] = [:]
        for table in rule.tables + rule.joinTables.map(\.table) {
            tables[table.name] = Dictionary(
                table.columns.map { ($0.name, $0.declaredType) }, uniquingKeysWith: { first, _ in first })
        }
        change(&tables)
        let numbers = Dictionary(
            rule.primaryKeyRows.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
        let catalog = StoreCatalog(
            numbers: numbers,
            tables: tables.mapValues { columns in
                columns.sorted { $0.key < $1.key }.map { .init(name: $0.key, declaredType: $0.value) }
            })
        return SQLSchema(layout: layout, numbers: numbers, catalog: catalog)
    }

    private func column(_ schema: SQLSchema, _ entity: String, _ property: String) throws -> String? {
        try mapping(schema, entity)?.column(named: property)?.name
    }

    private func mapping(_ schema: SQLSchema, _ entity: String) throws -> EntityMapping? {
        let layout = try #require(schema.layout.entityByName[entity])
        return schema.mapping(of: layout)
    }

    private var cars: NSManagedObjectModel { FixtureModel.cars() }

    @Test("What fits the rules is as the rules have it, and there are no findings")
    func rules() throws {
        let model = cars
        let schema = try schema(model) { $0["ZCAR"]?["ZSTRANGER"] = "VARCHAR" }
        #expect(schema.findings.isEmpty)
        #expect(try schema.tables == SQLSchema(layout: model.compiledLayout()).tables)
    }

    @Test("A number at the end of a name is read from the store")
    func number() throws {
        let schema = try schema(cars) {
            $0["ZCAR"]?["ZMAKER"] = nil
            $0["ZCAR"]?["ZMAKER2"] = "VARCHAR"
        }
        #expect(try column(schema, "Car", "maker") == "ZMAKER2")
        #expect(schema.findings.isEmpty)
    }

    @Test("Of two names that differ in a number, types tell which is which; the same types do not")
    func types() throws {
        func siblings(_ type: NSAttributeType) -> NSManagedObjectModel {
            let contact = makeEntity("Contact", makeAttribute("code", .stringAttributeType))
            let group = makeEntity("Group", makeAttribute("code", type))
            return makeModel(makeEntity("Record", abstract: true).with(sub: contact, group), contact, group)
        }
        let different = try schema(siblings(.integer16AttributeType)) {
            $0["ZRECORD"]?["ZCODE"] = "INTEGER"
            $0["ZRECORD"]?["ZCODE1"] = "VARCHAR"
        }
        #expect(try column(different, "Contact", "code") == "ZCODE1")
        #expect(try column(different, "Group", "code") == "ZCODE")
        let same = try schema(siblings(.stringAttributeType)) {
            $0["ZRECORD"]?["ZCODE"] = nil
            $0["ZRECORD"]?["ZCODE2"] = "VARCHAR"
        }
        #expect(try column(same, "Contact", "code") == nil)
        #expect(same.findings.map(\.subject) == ["Contact.code", "Group.code"])
        #expect(same.findings.allSatisfy { $0.problem == .ambiguous && $0.candidates == ["ZCODE1", "ZCODE2"] })
    }

    @Test("A column that is missing costs its property, and no other")
    func missing() throws {
        let schema = try schema(cars) { $0["ZCAR"]?["ZMAKER"] = nil }
        #expect(schema.findings.map(\.text) == ["no column ZCAR.ZMAKER, which “Car.maker” needs"])
        #expect(try mapping(schema, "SportCar")?.unavailable.keys.sorted() == ["maker"])
        #expect(try column(schema, "Car", "model") == "ZMODEL")
    }

    @Test("A to-one relationship that is missing costs its inverse as well")
    func inverse() throws {
        let schema = try schema(cars) { $0["ZCAR"]?["ZOWNER"] = nil }
        #expect(schema.findings.map(\.subject) == ["Car.owner", "Person.cars"])
    }

    @Test("A table that is missing costs its entities, and no others")
    func missingTable() throws {
        let schema = try schema(cars) { $0["ZCAR"] = nil }
        #expect(schema.findings.map(\.text) == ["no table ZCAR, which “Car” needs"])
        #expect(try mapping(schema, "SportCar") == nil)
        #expect(try mapping(schema, "Person") != nil)
    }

    @Test("A table of another name is known by its columns, and so are two that changed names")
    func tables() throws {
        let renamed = try schema(cars) {
            $0["ZVEHICLE"] = $0["ZCAR"]
            $0["ZCAR"] = nil
        }
        #expect(renamed.tables.map(\.name) == ["ZVEHICLE", "ZPERSON"])
        let swapped = try schema(cars) { ($0["ZCAR"], $0["ZPERSON"]) = ($0["ZPERSON"], $0["ZCAR"]) }
        #expect(swapped.tables.map(\.name) == ["ZPERSON", "ZCAR"])
        #expect(swapped.findings.isEmpty)
    }

    @Test("A table that fits twice is nobody's")
    func doubledTable() throws {
        let schema = try schema(cars) {
            $0["ZVEHICLE"] = $0["ZCAR"]
            $0["ZAUTO"] = $0["ZCAR"]
            $0["ZCAR"] = nil
        }
        #expect(schema.findings.map(\.candidates) == [["ZAUTO", "ZVEHICLE"]])
    }

    // MARK: Join tables

    /// As a messenger app has them: people of ballots, and people of events.
    private var people: NSManagedObjectModel {
        makeModel(
            makeEntity("Ballot", makeToMany("people", "Person", inverse: "ballots")),
            makeEntity("Event", makeToMany("people", "Person", inverse: "events")),
            makeEntity(
                "Person", makeToMany("ballots", "Ballot", inverse: "people"),
                makeToMany("events", "Event", inverse: "people")))
    }

    private func joins(_ schema: SQLSchema) -> [String] {
        schema.joinTables.map { "\($0.table.name)(\($0.table.columns.map(\.name).joined(separator: ", ")))" }
    }

    @Test(
        "Columns of join tables are numbered by the entity that they hold the keys of, in the order of its relationships"
    )
    func numberedJoins() throws {
        let layout = try people.compiledLayout()
        #expect(
            joins(SQLSchema(layout: layout))
                == ["Z_1PEOPLE(Z_1BALLOTS, Z_3PEOPLE)", "Z_2PEOPLE(Z_2EVENTS, Z_3PEOPLE1)"])
    }

    @Test("A join table with other numbers, of columns or of entities, is known by the rest")
    func otherJoins() throws {
        let numbers = try schema(people) {
            $0["Z_1PEOPLE"] = ["Z_1BALLOTS": "INTEGER", "Z_3PEOPLE1": "INTEGER"]
            $0["Z_2PEOPLE"] = ["Z_2EVENTS": "INTEGER", "Z_3PEOPLE": "INTEGER"]
        }
        #expect(joins(numbers) == ["Z_1PEOPLE(Z_1BALLOTS, Z_3PEOPLE1)", "Z_2PEOPLE(Z_2EVENTS, Z_3PEOPLE)"])
        let entities = try schema(people) {
            $0["Z_1PEOPLE"] = nil
            $0["Z_7PEOPLE"] = ["Z_7BALLOTS": "INTEGER", "Z_9PEOPLE": "INTEGER"]
        }
        #expect(joins(entities).first == "Z_7PEOPLE(Z_7BALLOTS, Z_9PEOPLE)")
        #expect(numbers.findings.isEmpty && entities.findings.isEmpty)
    }

    @Test("A join table that is missing costs both ends of its relationship")
    func missingJoin() throws {
        let schema = try schema(people) { $0["Z_1PEOPLE"] = nil }
        #expect(schema.findings.map(\.subject) == ["Ballot.people", "Person.ballots"])
        #expect(joins(schema) == ["Z_2PEOPLE(Z_2EVENTS, Z_3PEOPLE1)"])
    }

    // MARK: What earlier versions of this library made

    @Test("Elements that are named after their composite attribute, too, are found")
    func formerComposites() throws {
        let place = NSCompositeAttributeDescription()
        place.name = "author"
        place.isOptional = true
        place.elements = [makeAttribute("id", .stringAttributeType), makeAttribute("year", .stringAttributeType)]
        let model = makeModel(makeEntity("Drink", place, makeAttribute("id", .stringAttributeType)))
        let schema = try schema(model) {
            $0["ZDRINK"]?["ZID1"] = nil
            $0["ZDRINK"]?["ZYEAR"] = nil
            $0["ZDRINK"]?["ZAUTHOR_ID"] = "VARCHAR"
            $0["ZDRINK"]?["ZAUTHOR_YEAR"] = "VARCHAR"
        }
        #expect(schema.findings.isEmpty)
        #expect(try column(schema, "Drink", "id") == "ZID")
        let author = try #require(try mapping(schema, "Drink")?.column(named: "author"))
        #expect(author.elements.map(\.name) == ["ZAUTHOR_ID", "ZAUTHOR_YEAR"])
    }

    @Test("A join table for a relationship without inverse is found where there is no column for it")
    func formerJoin() throws {
        let model = makeModel(
            makeEntity("Drink", makeToMany("spec", "Ingredient", inverse: nil)), makeEntity("Ingredient"))
        let schema = try schema(model) {
            $0["ZINGREDIENT"]?["Z1SPEC"] = nil
            $0["Z_1SPEC"] = ["Z_1DRINK": "INTEGER", "Z_2SPEC": "INTEGER"]
        }
        #expect(schema.findings.isEmpty)
        #expect(joins(schema) == ["Z_1SPEC(Z_1DRINK, Z_2SPEC)"])
    }
}
