import CoreData
import PippinRecords
import TestSupport
import Testing

@testable import Pippin

// An entity that gets another name in the second version, and an attribute of another type in the third.
private enum V1 {
    struct Person: CoreModel {
        let id: String
        var age: String
    }
}
private enum V2 {
    struct Human: CoreModel {
        let id: String
        var age: String
        static var schema: Schema<Human> { Schema(.renamed(from: "Person")) }
    }
}
private enum V3 {
    struct Human: CoreModel {
        let id: String
        var age: Int
        static var schema: Schema<Human> { Schema(.renamed(from: "Person")) }
    }
}

@Suite("Changes of an entity in a migration plan")
struct ChangedEntityTests {
    private let folder: TestFolder
    private var location: StoreLocation { .file(folder.file("people.sqlite")) }
    private let second = ModelVersion("2", models: V2.Human.self)
    private let third = ModelVersion("3", models: V3.Human.self)

    init() throws { folder = try TestFolder() }

    @Test("may be of an entity that was renamed in an earlier version")
    func renamedEarlier() async throws {
        let old = PersistenceManager(models: V1.Person.self, store: location)
        try await old.load()
        try await old.save(V1.Person(id: "ada", age: "36"))
        let plan = MigrationPlan(from: ModelVersion("1", models: V1.Person.self)).inferred(to: second).changing(
            to: third,
            .model(V2.Human.self, to: V3.Human.self) { V3.Human(id: $0.id, age: Int($0.age) ?? 0) })
        let manager = PersistenceManager(models: V3.Human.self, store: location)
        try await manager.load(migratingBy: plan)
        #expect(try await manager.fetch(V3.Human.self).map(\.age) == [36])
    }

    @Test("are refused if a step has two for one entity, and the error names it")
    func twice() throws {
        let plan = MigrationPlan(from: second).changing(
            to: third,
            .model(V2.Human.self, to: V3.Human.self) { V3.Human(id: $0.id, age: Int($0.age) ?? 0) },
            .model(V2.Human.self, to: V3.Human.self) { V3.Human(id: $0.id, age: 1) })
        let manager = PersistenceManager(models: V3.Human.self, store: location)
        #expect(throws: PersistenceError.repeatedChange(entity: "Human", from: "2", to: "3")) {
            try manager.loadAndWait(migratingBy: plan)
        }
    }

    @Test("take care of an element of a nested struct that gets another type")
    func elementOfAnotherType() async throws {
        enum Old {
            struct Address: Codable {
                var town: String
                var zip: String
            }
            struct Person: CoreModel {
                let id: String
                var address: Address
            }
        }
        enum New {
            struct Address: Codable, Equatable {
                var town: String
                var zip: Int
            }
            struct Person: CoreModel {
                let id: String
                var address: Address
            }
        }
        let old = PersistenceManager(models: Old.Person.self, store: location)
        try await old.load()
        try await old.save(Old.Person(id: "ada", address: Old.Address(town: "London", zip: "123")))
        let (first, second) = (ModelVersion("1", models: Old.Person.self), ModelVersion("2", models: New.Person.self))
        let manager = PersistenceManager(models: New.Person.self, store: location)
        #expect {
            try manager.loadAndWait(migratingBy: MigrationPlan(from: first).inferred(to: second))
        } throws: { error in
            (error as? PersistenceError)?.property == "address.zip"
                && error.localizedDescription.contains("changing(to:_:) with a closure for 'Person'")
        }
        let plan = MigrationPlan(from: first).changing(
            to: second,
            .model(Old.Person.self, to: New.Person.self) {
                New.Person(id: $0.id, address: New.Address(town: $0.address.town, zip: Int($0.address.zip) ?? 0))
            })
        try await manager.load(migratingBy: plan)
        #expect(try await manager.fetch(New.Person.self).map(\.address) == [New.Address(town: "London", zip: 123)])
    }

    /// People, some of whom are employees, with an inherited attribute of a type.
    private func people(age: NSAttributeType) -> NSManagedObjectModel {
        let attribute = NSAttributeDescription()
        attribute.name = "age"
        attribute.attributeType = age
        let (person, employee) = (NSEntityDescription(), NSEntityDescription())
        (person.name, employee.name) = ("Person", "Employee")
        person.properties = [attribute]
        person.subentities = [employee]
        let model = NSManagedObjectModel()
        model.entities = [person, employee]
        return model
    }

    @Test("take care of an inherited attribute if they are of all entities that have it; others are named")
    func inherited() throws {
        let (old, new) = (people(age: .stringAttributeType), people(age: .integer64AttributeType))
        let (first, second) = (ModelVersion("1", model: old), ModelVersion("2", model: new))
        let changes = ["Person", "Employee"].map { RecordChange.record($0) { _, _ in } }
        for change in changes {
            #expect {
                try CheckedPlan(MigrationPlan(from: first).changing(to: second, change), over: [old, new])
            } throws: { error in
                guard let error = error as? PersistenceError, error.code == .notInferable else { return false }
                return error.entity == (change.source == "Person" ? "Employee" : "Person") && error.property == "age"
            }
        }
        let plan = try CheckedPlan(
            MigrationPlan(from: first).changing(to: second, changes[0], changes[1]), over: [old, new])
        #expect(plan.steps.count == 1)
    }

    @Test("cannot take care of a relationship, so the error asks for a mapping model alone")
    func relationship() throws {
        func model(isToMany: Bool) -> NSManagedObjectModel {
            let relationship = NSRelationshipDescription()
            let entity = NSEntityDescription()
            (entity.name, relationship.name) = ("Person", "friends")
            relationship.maxCount = isToMany ? 0 : 1
            relationship.destinationEntity = entity
            entity.properties = [relationship]
            let model = NSManagedObjectModel()
            model.entities = [entity]
            return model
        }
        let (old, new) = (model(isToMany: true), model(isToMany: false))
        let plan = MigrationPlan(from: ModelVersion("1", model: old)).changing(
            to: ModelVersion("2", model: new), .record("Person") { _, _ in })
        #expect {
            try CheckedPlan(plan, over: [old, new])
        } throws: { error in
            error.localizedDescription.hasSuffix("Use mapped(to:by:).")
        }
    }
}
