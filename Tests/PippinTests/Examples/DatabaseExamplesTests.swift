import Pippin
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
        try manager.load()
    }

    @Test("writing, and waiting for it")
    func writeSync() throws {
        try manager.write { try $0.insertOrUpdate(john) }
        #expect(try manager.fetch(User.self) == [john])
    }

    @Test("writing, with a completion")
    func writeAsync() async throws {
        let users = [john, jane]
        let result = await withCheckedContinuation { continuation in
            manager.write({ try $0.insertOrUpdate(users) }, completion: { continuation.resume(returning: $0) })
        }
        try result.get()
        #expect(try await manager.count(User.self) == 2)
    }

    @Test("reading with a request, and a completion")
    func read() async throws {
        try await manager.save([john, jane])
        let result = await withCheckedContinuation { continuation in
            manager.read(
                { try $0.fetch(User.self, where: \.name == "John") }, completion: { continuation.resume(returning: $0) }
            )
        }
        #expect(try result.get() == [john])
    }

    @Test("predicates: comparisons, compounds, and their contrary")
    func predicates() async throws {
        try await manager.save([john, jane])
        #expect(try await manager.fetch(User.self, where: \.age == 42) == [john])
        #expect(try await manager.fetch(User.self, where: \.name == "John") == [john])
        #expect(try await manager.fetch(User.self, where: \.age > 30 && .begins(\.department, with: "dev-")) == [john])
        #expect(try await manager.fetch(User.self, where: !(.in(\.tag, ["tag1", "tag2"]) && \.tag != nil)) == [jane])
    }
}
