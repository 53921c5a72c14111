import Foundation
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLiteEngine

@Suite("What is computed from a model's descriptions")
struct DerivedFactsTests {
    /// Two entities that refer to each other, and one that inherits.
    private func model() -> NSManagedObjectModel {
        let (house, person, child) = (
            Library.entity("House", []), Library.entity("Person", []), Library.entity("Child", [])
        )
        let (name, home, people) = (NSAttributeDescription(), NSRelationshipDescription(), NSRelationshipDescription())
        (name.name, name.attributeType) = ("name", .stringAttributeType)
        (home.name, home.maxCount, home.destinationEntity) = ("home", 1, house)
        (people.name, people.destinationEntity) = ("people", person)
        person.properties = [name, home]
        house.properties = [people]
        home.inverseRelationship = people
        people.inverseRelationship = home
        person.subentities = [child]
        let model = NSManagedObjectModel()
        model.entities = [house, person, child]
        return model
    }

    @Test("Each entity is hashed once, however often models are compared and whoever uses them")
    func once() {
        let (first, second) = (model(), model())
        for _ in 0..<50 {
            #expect(first == second)
            #expect(first.entityVersionHashesByName == second.entityVersionHashesByName)
            #expect(
                first.isConfiguration(
                    withName: nil,
                    compatibleWithStoreMetadata: ["NSStoreModelVersionHashes": second.entityVersionHashesByName]))
        }
        _ = NSPersistentStoreCoordinator(managedObjectModel: first)
        _ = first.entityVersionHashesByName
        #expect(first.derived.hashCount == 3)
        #expect(second.derived.hashCount == 3)
    }

    @Test(
        "Whatever changes, the hashes and the comparison show it",
        arguments: [
            ("Person", "an attribute's type"), ("Person", "an attribute's name"), ("House", "a destination's name"),
            ("House", "an inverse's name"), ("Child", "an inherited property"), ("Person", "an added property"),
            ("Child", "the parent"), ("Person", "a composite's element"), ("Person", "an end that is required"),
        ])
    func changes(entity: String, what: String) throws {
        let (model, same) = (model(), model())
        let person = try #require(model.entitiesByName["Person"])
        let composite = NSCompositeAttributeDescription()
        let element = NSAttributeDescription()
        (element.name, element.attributeType, composite.name) = ("x", .stringAttributeType, "point")
        composite.elements = [element]
        if what == "a composite's element" { person.properties += [composite] }
        let before = model.entityVersionHashesByName
        if what != "a composite's element" { #expect(model == same) }
        switch what {
        case "an attribute's type": person.attributesByName["name"]?.attributeType = .dateAttributeType
        case "an attribute's name": person.attributesByName["name"]?.name = "title"
        case "a destination's name": person.name = "Human"
        case "an inverse's name": person.relationshipsByName["home"]?.name = "residence"
        case "an inherited property": person.attributesByName["name"]?.isOptional = false
        case "an added property": person.properties += [composite]
        case "the parent": person.subentities = []
        case "a composite's element": element.attributeType = .dateAttributeType
        default: person.relationshipsByName["home"]?.isOptional.toggle()
        }
        #expect(model.entityVersionHashesByName[entity] != before[entity])
        #expect(model != same)
        #expect(model.entitiesByName["Human"] != nil || what != "a destination's name")
    }

    @Test("What is not part of a hash is compared all the same")
    func compared() throws {
        let (model, same) = (model(), model())
        #expect(model == same)
        model.entitiesByName["Person"]?.attributesByName["name"]?.defaultValue = "x"
        #expect(model != same)
        same.entitiesByName["Person"]?.attributesByName["name"]?.defaultValue = "x"
        #expect(model == same)
        // The user info may change while a model is in use.
        _ = NSPersistentStoreCoordinator(managedObjectModel: model)
        model.entitiesByName["House"]?.userInfo = ["key": "value"]
        #expect(model != same)
    }

    @Test("An entity that another model took over does not leave a stale hash behind")
    func moved() throws {
        let (first, second) = (model(), NSManagedObjectModel())
        _ = first.entityVersionHashesByName
        second.entities = first.entities
        _ = second.entityVersionHashesByName
        let person = try #require(second.entitiesByName["Person"])
        let before = first.entityVersionHashesByName["Person"]
        person.isAbstract = true
        #expect(first.entityVersionHashesByName["Person"] != before)
        #expect(first.entityVersionHashesByName == second.entityVersionHashesByName)
    }
}
