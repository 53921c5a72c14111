import PippinRecords
import TestSupport
import Testing

@Suite("The examples of Database")
struct DatabaseExamplesTests {
    struct User: CoreModel, Codable, Equatable {
        let uid: Int
        var name: String
        var age: Int
        var department = "dev-null"
        var tag: String?
    }

    private let manager: PersistenceManager
    private let john = User(uid: 1, name: "John", age: 42, tag: "tag1")
    private let jane = User(uid: 2, name: "Jane", age: 29, department: "sales")

    init() throws {
        manager = PersistenceManager(models: User.self, store: .memory)
        try manager.loadAndWait()
    }

    @Test("write, where the caller waits")
    func writeSync() throws {
        try manager.writeAndWait { try $0.save(john) }
        #expect(try manager.readAndWait { try $0.fetch(User.self) } == [john])
    }

    @Test("write, with a completion handler")
    func writeAsync() async throws {
        let users = [john, jane]
        let result = await withCheckedContinuation { continuation in
            manager.write({ try $0.save(users) }, completion: { continuation.resume(returning: $0) })
        }
        try result.get()
        #expect(try await manager.count(User.self) == 2)
    }

    @Test("read with a request and a completion handler")
    func read() async throws {
        try await manager.save([john, jane])
        let result = await withCheckedContinuation { continuation in
            manager.read(
                { try $0.fetch(User.self, where: \.name == "John") }, completion: { continuation.resume(returning: $0) }
            )
        }
        #expect(try result.get() == [john])
    }

    @Test("filter by comparisons, compounds and their contrary")
    func predicates() async throws {
        try await manager.save([john, jane])
        #expect(try await manager.fetch(User.self, where: \.age == 42) == [john])
        #expect(try await manager.fetch(User.self, where: \.name == "John") == [john])
        #expect(try await manager.fetch(User.self, where: \.age > 30 && .begins(\.department, with: "dev-")) == [john])
        #expect(try await manager.fetch(User.self, where: !(.in(\.tag, ["tag1", "tag2"]) && \.tag != nil)) == [jane])
    }

    @Test("migrate over several versions, one of them with a policy of one's own")
    func migration() async throws {
        let folder = try TestFolder()
        let location = StoreLocation.file(folder.file("users.sqlite"))
        let old = PersistenceManager(models: UserVersions.V1.User.self, store: location)
        try await old.load()
        try await old.save(UserVersions.V1.User(uid: 1, firstname: "John"))
        let (second, third) = (
            ModelVersion("v2", models: UserVersions.V2.User.self), ModelVersion("v3", models: UserVersions.V3.User.self)
        )
        let plan = MigrationPlan(from: ModelVersion("v1", models: UserVersions.V1.User.self))
            .inferred(to: second)
            .mapped(to: third) {
                let mapping = try NSMappingModel.inferredMappingModel(
                    forSourceModel: UserVersions.model(UserVersions.V2.User.self),
                    destinationModel: UserVersions.model(UserVersions.V3.User.self))
                mapping.entityMappings[0].entityMigrationPolicyClassName = NSStringFromClass(
                    User2ToUser3MigrationPolicy.self)
                return mapping
            }
        let manager = PersistenceManager(models: UserVersions.V3.User.self, store: location)
        try await manager.load(migratingBy: plan)
        #expect(try await manager.fetch(UserVersions.V3.User.self).map(\.fullName) == ["John Smith"])
    }
}

enum UserVersions {
    enum V1 {
        struct User: CoreModel, Codable {
            let uid: Int
            var firstname: String
        }
    }
    enum V2 {
        struct User: CoreModel, Codable {
            let uid: Int
            var firstname: String
            var surname: String
            static var schema: Schema<User> { Schema(.defaultValue(\.surname, "Smith")) }
        }
    }
    enum V3 {
        struct User: CoreModel, Codable {
            let uid: Int
            var fullName: String
        }
    }

    static func model(_ type: any (CoreModel & Codable).Type) -> NSManagedObjectModel {
        PersistenceManager(models: [type], store: .memory).container.managedObjectModel
    }
}

final class User2ToUser3MigrationPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sourceInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sourceInstance, in: mapping, manager: manager)
        let destinations = manager.destinationInstances(
            forEntityMappingName: mapping.name, sourceInstances: [sourceInstance])
        let names = ["firstname", "surname"].compactMap { sourceInstance.value(forKey: $0) as? String }
        for destination in destinations { destination.setValue(names.joined(separator: " "), forKey: "fullName") }
    }
}
