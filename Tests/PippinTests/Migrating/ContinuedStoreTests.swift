import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

private enum V1 {
    struct Person: CoreModel {
        let id: String
        var name: String
        var age: String
    }
}
private enum V2 {
    struct Person: CoreModel {
        let id: String
        var name: String
        var age: Int
    }
}
private enum V3 {
    struct Person: CoreModel {
        let id: String
        var name: String
        var age: Double
        var years: String
        static var schema: Schema<Person> { Schema(.defaultValue(\.years, "")) }
    }
}

@Suite("A store that a migration plan has migrated is the same store")
struct ContinuedStoreTests {
    private let folder: TestFolder
    private var file: URL { folder.file("people.sqlite") }

    /// Two steps: the first one by closures, the second one, too, or inferred.
    private func plan(isInferred: Bool) -> MigrationPlan {
        let third = ModelVersion("3", models: V3.Person.self)
        let plan = MigrationPlan(from: ModelVersion("1", models: V1.Person.self)).changing(
            to: ModelVersion("2", models: V2.Person.self),
            .model(V1.Person.self, to: V2.Person.self) { V2.Person(id: $0.id, name: $0.name, age: Int($0.age) ?? 0) })
        if isInferred { return plan.inferred(to: third) }
        return plan.changing(
            to: third,
            .model(V2.Person.self, to: V3.Person.self) {
                V3.Person(id: $0.id, name: $0.name, age: Double($0.age), years: "\($0.age) years")
            })
    }

    init() throws { folder = try TestFolder() }

    private func tracking(_ manager: PersistenceManager) -> PersistenceManager {
        manager.container.persistentStoreDescriptions.first?.setOption(
            true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        return manager
    }

    /// Makes a store of the first version with three people, of whom one is deleted; returns its UUID and the people's
    /// URIs.
    private func makeStore() async throws -> (uuid: String?, uris: [String: URL]) {
        let manager = tracking(PersistenceManager(models: V1.Person.self, store: .file(file)))
        try await manager.load()
        try await manager.save(["ada", "bob", "cid"].map { V1.Person(id: $0, name: $0, age: "36") })
        let coordinator = manager.container.persistentStoreCoordinator
        let uris = try uris(in: coordinator)
        try await manager.delete(V1.Person.self, id: "bob")
        return (coordinator.persistentStores.first?.identifier, uris)
    }

    /// The URIs of the people by their identifiers.
    private func uris(in coordinator: NSPersistentStoreCoordinator) throws -> [String: URL] {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
            return Dictionary(
                people.map { ($0.value(forKey: "id") as? String ?? "", $0.objectID.uriRepresentation()) },
                uniquingKeysWith: { first, _ in first })
        }
    }

    private func migrated(isInferred: Bool) async throws -> NSPersistentStoreCoordinator {
        try await migratedManager(isInferred: isInferred).container.persistentStoreCoordinator
    }

    private func migratedManager(isInferred: Bool) async throws -> PersistenceManager {
        let manager = tracking(PersistenceManager(models: V3.Person.self, store: .file(file)))
        try await manager.load(migratingBy: plan(isInferred: isInferred))
        #expect(try await manager.fetch(V3.Person.self).map(\.age) == [36, 36])
        return manager
    }

    @Test("it keeps its UUID", arguments: [false, true])
    func uuid(isInferred: Bool) async throws {
        let uuid = try await makeStore().uuid
        #expect(uuid != nil)
        #expect(try await migrated(isInferred: isInferred).persistentStores.first?.identifier == uuid)
    }

    @Test("the URI of an object leads to that object, and to no other one", arguments: [false, true])
    func identifiers(isInferred: Bool) async throws {
        let before = try await makeStore().uris
        let manager = try await migratedManager(isInferred: isInferred)
        let coordinator = manager.container.persistentStoreCoordinator
        #expect(try uris(in: coordinator) == before.filter { $0.key != "bob" })
        for uri in before.values { #expect(coordinator.managedObjectID(forURIRepresentation: uri) != nil) }
        try await manager.save(V3.Person(id: "bob", name: "bob", age: 1, years: ""))
        #expect(try uris(in: coordinator)["bob"].map(before.values.contains) == false)
    }

    @Test("it keeps its history, whose changes are those of the objects", arguments: [false, true])
    func history(isInferred: Bool) async throws {
        _ = try await makeStore()
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = try await migrated(isInferred: isInferred)
        try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let changes = (result?.result as? [NSPersistentHistoryTransaction] ?? []).flatMap { $0.changes ?? [] }
            #expect(
                changes.map(\.changeType).sorted { $0.rawValue < $1.rawValue } == [.insert, .insert, .insert, .delete])
            let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map(\.objectID)
            let inserted = changes.filter { $0.changeType == .insert }.map(\.changedObjectID)
            #expect(Set(people).isSubset(of: inserted))
        }
    }
}
