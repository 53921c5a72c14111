import CoreData
import Foundation
import SQLiteConnection
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

/// A small town, the model that migration tests change: people (some employed) with houses, pets and tags, and a log.
enum Town {
    static func model() -> NSManagedObjectModel {
        let employee = makeEntity("Employee", makeAttribute("salary", .doubleAttributeType))
        let alarm = makeEntity("Alarm", makeAttribute("loudness", .integer16AttributeType))
        let name = makeAttribute("name", .stringAttributeType)
        name.isOptional = false
        return makeModel(
            makeEntity(
                "House", makeAttribute("street", .stringAttributeType), makeToMany("people", "Person", inverse: "house")
            ),
            makeEntity("Log", makeAttribute("message", .stringAttributeType)).with(sub: alarm),
            alarm,
            makeEntity(
                "Person", name, makeAttribute("age", .integer16AttributeType),
                makeAttribute("nick", .stringAttributeType),
                makeToOne("house", "House", inverse: "people"), makeToMany("tags", "Tag", inverse: "people"),
                makeToOne("pet", "Pet", inverse: "owner")
            ).with(sub: employee),
            employee,
            makeEntity(
                "Pet", makeAttribute("name", .stringAttributeType), makeToOne("owner", "Person", inverse: "pet")),
            makeEntity(
                "Tag", makeAttribute("label", .stringAttributeType), makeToMany("people", "Person", inverse: "tags"))
        )
    }

    /// Makes a store with people in houses.
    static func makeStore(at url: URL) throws {
        let container = try Library.stored(at: url, model())
        let context = container.newBackgroundContext()
        try context.performAndWait {
            func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let houses = ["Elm", "Oak"].map { make("House", ["street": $0]) }
            let tags = ["tall", "kind"].map { make("Tag", ["label": $0]) }
            let pet = make("Pet", ["name": "Rex"])
            _ = make("Pet", ["name": "Stray"])
            let ann = make("Person", ["name": "Ann", "age": 31, "nick": "A", "house": houses[0], "pet": pet])
            let bob = make("Employee", ["name": "Bob", "salary": 2.5, "house": houses[0], "nick": "B"])
            _ = make("Employee", ["name": "Cid", "age": 50, "salary": 9])
            ann.setValue(NSSet(array: tags), forKey: "tags")
            bob.setValue(NSSet(array: [tags[0]]), forKey: "tags")
            for message in ["one", "two"] { _ = make("Log", ["message": message]) }
            _ = make("Alarm", ["message": "fire", "loudness": 11])
            try context.save()
        }
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
    }
}

extension NSManagedObjectModel {
    func entity(_ name: String) -> NSEntityDescription {
        entitiesByName[name] ?? NSEntityDescription()
    }

    func attribute(_ entity: String, _ name: String) -> NSAttributeDescription {
        self.entity(entity).attributesByName[name] ?? NSAttributeDescription()
    }

    func relationship(_ entity: String, _ name: String) -> NSRelationshipDescription {
        self.entity(entity).relationshipsByName[name] ?? NSRelationshipDescription()
    }

    func add(_ property: NSPropertyDescription, to name: String) {
        let entity = entity(name)
        entity.properties = entity.ownProperties + [property]
    }

    func removeProperty(_ property: String, of name: String) {
        let entity = entity(name)
        entity.properties = entity.ownProperties.filter { $0.name != property }
    }
}

/// One kind of change that lightweight migration knows.
struct ModelChange: Sendable, CustomTestStringConvertible {
    let name: String
    /// What cannot be changed twice.
    let touches: Set<String>
    let apply: @Sendable (NSManagedObjectModel) -> Void

    var testDescription: String { name }

    init(_ name: String, touches: Set<String> = [], _ apply: @escaping @Sendable (NSManagedObjectModel) -> Void) {
        self.name = name
        self.touches = touches
        self.apply = apply
    }

    static let all: [ModelChange] = [
        ModelChange("an optional attribute is added") {
            $0.add(makeAttribute("email", .stringAttributeType), to: "Person")
        },
        ModelChange("a mandatory attribute with a default is added") { model in
            let level = makeAttribute("level", .integer32AttributeType)
            level.isOptional = false
            level.defaultValue = 7
            model.add(level, to: "Person")
        },
        ModelChange("an attribute is removed", touches: ["nick"]) { $0.removeProperty("nick", of: "Person") },
        ModelChange("an attribute is renamed", touches: ["name of age"]) { model in
            let age = model.attribute("Person", "age")
            age.name = "years"
            age.renamingIdentifier = "age"
        },
        ModelChange("an optional attribute becomes mandatory with a default", touches: ["age"]) { model in
            let age = model.attribute("Person", "age")
            age.isOptional = false
            age.defaultValue = 18
        },
        ModelChange("a mandatory attribute becomes optional") { $0.attribute("Person", "name").isOptional = true },
        ModelChange("an integer becomes a double", touches: ["age"]) { model in
            model.attribute("Person", "age").attributeType = .doubleAttributeType
        },
        ModelChange("an entity is added") { model in
            model.entities += [makeEntity("Aardvark", makeAttribute("name", .stringAttributeType))]
        },
        ModelChange("an entity is removed", touches: ["Log"]) { model in
            model.entities = model.entities.filter { !["Log", "Alarm"].contains($0.name) }
        },
        ModelChange("an entity is renamed", touches: ["Tag"]) { model in
            let tag = model.entity("Tag")
            tag.name = "Label"
            tag.renamingIdentifier = "Tag"
            model.relationship("Person", "tags").destinationEntity = tag
        },
        ModelChange("a relationship and its inverse are added", touches: ["Log"]) { model in
            model.add(makeToOne("author", "Person", inverse: "logs"), to: "Log")
            model.add(makeToMany("logs", "Log", inverse: "author"), to: "Person")
        },
        ModelChange("a relationship and its inverse are removed", touches: ["pet"]) { model in
            model.removeProperty("pet", of: "Person")
            model.removeProperty("owner", of: "Pet")
        },
        ModelChange("a to-one relationship becomes many-to-many", touches: ["house"]) { model in
            model.relationship("Person", "house").maxCount = 0
        },
        ModelChange("one side of a one-to-one relationship becomes to-many", touches: ["pet"]) { model in
            model.relationship("Person", "pet").maxCount = 0
        },
        ModelChange("a one-to-many relationship becomes ordered", touches: ["people"]) { model in
            model.relationship("House", "people").isOrdered = true
        },
        ModelChange("a many-to-many relationship becomes ordered") { model in
            model.relationship("Person", "tags").isOrdered = true
        },
        ModelChange("a relationship is renamed", touches: ["house", "people"]) { model in
            let people = model.relationship("House", "people")
            people.name = "residents"
            people.renamingIdentifier = "people"
            model.relationship("Person", "house").inverseName = "residents"
        },
        ModelChange("a parent is put above an entity, and takes its attribute", touches: ["hierarchy of House"]) {
            model in
            model.removeProperty("street", of: "House")
            let building = makeEntity("Building", makeAttribute("street", .stringAttributeType), abstract: true)
            building.subentities = [model.entity("House")]
            model.entities += [building]
        },
        ModelChange("an entity leaves its parent", touches: ["Log"]) { model in
            model.entity("Log").subentities = []
            model.add(makeAttribute("message", .stringAttributeType), to: "Alarm")
        },
        ModelChange("a subentity is removed", touches: ["Log"]) { model in
            model.entity("Log").subentities = []
            model.entities = model.entities.filter { $0.name != "Alarm" }
        },
        ModelChange("an attribute moves to a subentity", touches: ["nick", "hierarchy"]) { model in
            model.removeProperty("nick", of: "Person")
            model.add(makeAttribute("nick", .stringAttributeType), to: "Employee")
        },
        ModelChange("indexes and constraints are added", touches: ["hierarchy of House", "hierarchy"]) { model in
            // Neither is part of a version hash.
            model.entity("House").versionHashModifier = "2"
            _ = model.entity("House").with(constraint: "street")
            _ = model.entity("Employee").with(index: "bySalary", "salary")
        },
        ModelChange("a derived attribute is added", touches: ["house", "people"]) { model in
            model.add(
                makeDerived("peopleCount", .integer32AttributeType, NSExpression(format: "people.@count")), to: "House")
        },
    ]

    /// Every change, and every two that can be made together.
    static let combinations: [[ModelChange]] =
        all.map { [$0] }
        + all.indices.flatMap { first in
            all.indices.dropFirst(first + 1).compactMap { second in
                all[first].touches.isDisjoint(with: all[second].touches) ? [all[first], all[second]] : nil
            }
        }
}
