import CoreData
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
}
