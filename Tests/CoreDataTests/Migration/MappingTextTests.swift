import CoreData
import Foundation
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Inferred mappings as text")
struct MappingTextTests {
    /// The mapping that is inferred from the town to one with changes, a line an entity or property.
    private func lines(_ changes: [ModelChange]) throws -> Set<String> {
        let model = Town.model()
        for change in changes { change.apply(model) }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: Town.model(), destinationModel: model)
        return Set(
            mapping.entityMappings.flatMap { entity in
                let name = entity.destinationEntityName ?? "nothing"
                let head = "\(name): \(entity.name ?? "")"
                let properties = (entity.attributeMappings ?? []) + (entity.relationshipMappings ?? [])
                return [head] + properties.map { "\(name).\($0.name ?? "") = \(short($0.valueExpression))" }
            })
    }

    /// `nick`, or `objects of tags`, for what inference makes of a property of the source.
    private func short(_ expression: CoreData.NSExpression?) -> String {
        guard let expression else { return "default" }
        let text = expression.description
        let key = text.split(separator: "\"").dropFirst(3).first ?? ""
        if text == "FUNCTION($source, \"valueForKey:\" , \"\(key)\")" { return String(key) }
        let objects =
            "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\" , \"\(key)\", "
            + "FUNCTION($source, \"valueForKey:\" , \"\(key)\"))"
        return text == objects ? "objects of \(key)" : text
    }

    /// What changes in the mapping, against the one from the town to itself.
    private func difference(_ changes: [ModelChange]) throws -> [String] {
        let (before, after) = (try lines([]), try lines(changes))
        return (before.subtracting(after).map { "- " + $0 } + after.subtracting(before).map { "+ " + $0 }).sorted()
    }

    @Test("Each kind of change changes the lines of the mapping that it is about, and no others")
    func single() throws {
        let text = try ModelChange.all.map { change in
            ([change.name] + (try difference([change])).map { "  " + $0 }).joined(separator: "\n")
        }.joined(separator: "\n")
        #expect(text == Self.expected)
    }

    @Test("Two changes together change the mapping as each of them does")
    func pairs() throws {
        let alone = try Dictionary(uniqueKeysWithValues: ModelChange.all.map { ($0.name, Set(try difference([$0]))) })
        for pair in ModelChange.combinations where pair.count == 2 {
            let expected = pair.reduce(into: Set<String>()) { $0.formUnion(alone[$1.name] ?? []) }
            let found = Set(try difference(pair))
            let comment = Comment(rawValue: pair.map(\.name).joined(separator: "; "))
            #expect(found == expected, comment)
        }
    }

    private static let expected = """
        an optional attribute is added
          + Employee.email = default
          + Employee: IEM_Transform_Employee
          + Person.email = default
          + Person: IEM_Transform_Person
          - Employee: IEM_Copy_Employee
          - Person: IEM_Copy_Person
        a mandatory attribute with a default is added
          + Employee.level = default
          + Employee: IEM_Transform_Employee
          + Person.level = default
          + Person: IEM_Transform_Person
          - Employee: IEM_Copy_Employee
          - Person: IEM_Copy_Person
        an attribute is removed
          + Employee: IEM_Transform_Employee
          + Person: IEM_Transform_Person
          - Employee.nick = nick
          - Employee: IEM_Copy_Employee
          - Person.nick = nick
          - Person: IEM_Copy_Person
        an attribute is renamed
          + Employee.years = age
          + Employee: IEM_Transform_Employee
          + Person.years = age
          + Person: IEM_Transform_Person
          - Employee.age = age
          - Employee: IEM_Copy_Employee
          - Person.age = age
          - Person: IEM_Copy_Person
        an optional attribute becomes mandatory with a default
          + Employee: IEM_Transform_Employee
          + Person: IEM_Transform_Person
          - Employee: IEM_Copy_Employee
          - Person: IEM_Copy_Person
        a mandatory attribute becomes optional
          + Employee: IEM_Transform_Employee
          + Person: IEM_Transform_Person
          - Employee: IEM_Copy_Employee
          - Person: IEM_Copy_Person
        an integer becomes a double
          + Employee: IEM_Transform_Employee
          + Person: IEM_Transform_Person
          - Employee: IEM_Copy_Employee
          - Person: IEM_Copy_Person
        an entity is added
          + Aardvark: IEM_Add_Aardvark
        an entity is removed
          + nothing: IEM_Remove_Alarm
          + nothing: IEM_Remove_Log
          - Alarm.loudness = loudness
          - Alarm.message = message
          - Alarm: IEM_Copy_Alarm
          - Log.message = message
          - Log: IEM_Copy_Log
        an entity is renamed
          + Employee: IEM_Transform_Employee
          + Label.label = label
          + Label.people = objects of people
          + Label: IEM_Transform_Tag
          + Person: IEM_Transform_Person
          - Employee: IEM_Copy_Employee
          - Person: IEM_Copy_Person
          - Tag.label = label
          - Tag.people = objects of people
          - Tag: IEM_Copy_Tag
        a relationship and its inverse are added
          + Alarm.author = default
          + Alarm: IEM_Transform_Alarm
          + Employee.logs = default
          + Employee: IEM_Transform_Employee
          + Log.author = default
          + Log: IEM_Transform_Log
          + Person.logs = default
          + Person: IEM_Transform_Person
          - Alarm: IEM_Copy_Alarm
          - Employee: IEM_Copy_Employee
          - Log: IEM_Copy_Log
          - Person: IEM_Copy_Person
        a relationship and its inverse are removed
          + Employee: IEM_Transform_Employee
          + Person: IEM_Transform_Person
          + Pet: IEM_Transform_Pet
          - Employee.pet = objects of pet
          - Employee: IEM_Copy_Employee
          - Person.pet = objects of pet
          - Person: IEM_Copy_Person
          - Pet.owner = objects of owner
          - Pet: IEM_Copy_Pet
        a to-one relationship becomes many-to-many
          + Employee: IEM_Transform_Employee
          + Person: IEM_Transform_Person
          - Employee: IEM_Copy_Employee
          - Person: IEM_Copy_Person
        one side of a one-to-one relationship becomes to-many
          + Employee: IEM_Transform_Employee
          + Person: IEM_Transform_Person
          - Employee: IEM_Copy_Employee
          - Person: IEM_Copy_Person
        a one-to-many relationship becomes ordered
          + House: IEM_Transform_House
          - House: IEM_Copy_House
        a many-to-many relationship becomes ordered
          + Employee: IEM_Transform_Employee
          + Person: IEM_Transform_Person
          - Employee: IEM_Copy_Employee
          - Person: IEM_Copy_Person
        a relationship is renamed
          + Employee: IEM_Transform_Employee
          + House.residents = objects of people
          + House: IEM_Transform_House
          + Person: IEM_Transform_Person
          - Employee: IEM_Copy_Employee
          - House.people = objects of people
          - House: IEM_Copy_House
          - Person: IEM_Copy_Person
        a parent is put above an entity, and takes its attribute
          + Building: IEM_Add_Building
          + House: IEM_Transform_House
          - House: IEM_Copy_House
        an entity leaves its parent
          + Alarm: IEM_Transform_Alarm
          - Alarm: IEM_Copy_Alarm
        a subentity is removed
          + nothing: IEM_Remove_Alarm
          - Alarm.loudness = loudness
          - Alarm.message = message
          - Alarm: IEM_Copy_Alarm
        an attribute moves to a subentity
          + Employee: IEM_Transform_Employee
          + Person: IEM_Transform_Person
          - Employee: IEM_Copy_Employee
          - Person.nick = nick
          - Person: IEM_Copy_Person
        indexes and constraints are added
          + House: IEM_Transform_House
          - House: IEM_Copy_House
        a derived attribute is added
          + House.peopleCount = default
          + House: IEM_Transform_House
          - House: IEM_Copy_House
        """
}
