import CoreData
import Pippin
import Testing

@Suite("What a schema says besides")
struct SchemaUserInfoTests {
    struct Person: CoreModel {
        let id: String
        var name: Name
        var friends: [Person]

        static var schema: Schema<Person> {
            Schema(
                .userInfo(["PippinSQLName": "people", "note": "a"]), .userInfo(["note": "b"]),
                .userInfo(\.name.first, ["PippinSQLName": "given"]), .userInfo(\.friends, ["note": "c"]))
        }
    }

    struct Name: Codable, Equatable, Sendable {
        var first: String
    }

    struct Odd: CoreModel {
        let id: String
        var length: Int { id.count }

        static var schema: Schema<Odd> { Schema(.userInfo(\.length, ["note": "a"])) }
    }

    @Test("is in the userInfo of the entity and its properties, nested ones included; the last word counts")
    func userInfo() throws {
        let model = PersistenceManager(models: Person.self, store: .memory).container.managedObjectModel
        let person = try #require(model.entitiesByName["Person"])
        #expect(person.userInfo?["PippinSQLName"] as? String == "people")
        #expect(person.userInfo?["note"] as? String == "b")
        #expect(person.relationshipsByName["friends"]?.userInfo?["note"] as? String == "c")
        let name = try #require(person.attributesByName["name"] as? NSCompositeAttributeDescription)
        #expect(name.elements.map { $0.userInfo?["PippinSQLName"] as? String } == ["given"])
    }

    @Test("changes nothing of what is saved")
    func saving() async throws {
        let manager = PersistenceManager(models: Person.self, store: .memory)
        let person = Person(id: "a", name: Name(first: "Ann"), friends: [])
        try await manager.save(person)
        #expect(try await manager.find(Person.self, id: "a")?.name == person.name)
    }

    @Test("is about stored properties only")
    func unknown() async {
        let error = await #expect(throws: PersistenceError.self) {
            try await PersistenceManager(models: Odd.self, store: .memory).count(Odd.self)
        }
        #expect(error?.code == .notDerivable)
    }
}
