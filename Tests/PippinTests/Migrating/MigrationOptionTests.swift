import CoreData
import PippinRecords
import SQLiteConnection
import TestSupport
import Testing

private enum V1 {
    struct Person: CoreModel {
        let id: String
        var age: String
    }
}
private enum V2 {
    struct Person: CoreModel {
        let id: String
        var age: Int
    }
}

@Suite("A store's options")
struct MigrationOptionTests {
    @Test("say how long a migration by a plan, and destroying the store, wait for a lock")
    func timeout() async throws {
        let folder = try TestFolder()
        let file = folder.file("people.sqlite")
        try await PersistenceManager(models: V1.Person.self, store: .file(file)).save(V1.Person(id: "a", age: "1"))
        let description = NSPersistentStoreDescription(url: file)
        description.timeout = 0.2
        let plan = MigrationPlan(from: ModelVersion("1", models: V1.Person.self)).changing(
            to: ModelVersion("2", models: V2.Person.self),
            .model(V1.Person.self, to: V2.Person.self) { V2.Person(id: $0.id, age: Int($0.age) ?? 0) })
        let manager = PersistenceManager(models: V2.Person.self, store: .description(description))
        let connection = try Connection(path: file.path, mode: .readWrite)
        try connection.execute("BEGIN IMMEDIATE")
        // Without the option, each of the two waits for four minutes.
        let thread = OwnThread()
        var time = await thread.measure {
            await #expect(throws: PersistenceError.self) { try await manager.load(migratingBy: plan) }
        }
        #expect(time < .seconds(200))
        try connection.execute("COMMIT")
        try await manager.load(migratingBy: plan)
        #expect(try await manager.fetch(V2.Person.self).map(\.age) == [1])
        try connection.execute("BEGIN IMMEDIATE")
        time = await thread.measure {
            await #expect(throws: PersistenceError.self) { try await manager.destroy() }
        }
        #expect(time < .seconds(200))
        try connection.execute("COMMIT")
        #expect(try await manager.fetch(V2.Person.self).map(\.age) == [1])
    }
}
