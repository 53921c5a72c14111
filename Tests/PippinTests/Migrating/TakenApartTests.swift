import Pippin
import TestSupport
import Testing

private struct Looks: Codable, Equatable, Sendable {
    struct Size: Codable, Equatable, Sendable {
        var width: Int?
    }
    var color: String?
    var size: Size?
}

/// A model whose property changes its type.
private struct Thing<Value: Codable & Equatable & Sendable>: CoreModel, Equatable {
    let id: Int
    var value: Value
    static var schema: Schema<Self> { Schema(name: "Thing") }
}

/// The same, where parts may be lost.
private struct Narrowed: CoreModel, Equatable {
    let id: Int
    var value: Looks
    static var schema: Schema<Self> { Schema(.narrowed(\.value), name: "Thing") }
}

/// A value with a part that has become a nested struct.
private struct Outer<Inner: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
    var inner: Inner
}

private enum Shape: Codable, Equatable, Sendable {
    case circle(radius: Int)
}

@Suite("JSON that becomes a nested struct")
struct TakenApartTests {
    private let folder: TestFolder
    private var file: StoreLocation { .file(folder.file("things.sqlite")) }

    init() throws { folder = try TestFolder() }

    private func fill<Value: Codable & Equatable & Sendable>(_ values: Value...) async throws {
        let things = values.enumerated().map { Thing(id: $0, value: $1) }
        let manager = PersistenceManager(models: Thing<Value>.self, store: file)
        try await manager.save(things)
        await manager.close()
    }

    /// The values after the migration; the losses if it is refused, and then the store is as it was.
    private func values<Former, Value>(
        of former: Former.Type, as type: Value.Type
    ) async throws -> (values: [Value], losses: [StoreLoss])
    where Former: Codable & Equatable & Sendable, Value: Codable & Equatable & Sendable {
        let old = PersistenceManager(models: Thing<Former>.self, store: file)
        let before = try await old.fetch(Thing<Former>.self, sortedBy: .ascending(\.id))
        await old.close()
        do {
            let manager = PersistenceManager(models: Thing<Value>.self, store: file)
            return (try await manager.fetch(Thing<Value>.self).sorted { $0.id < $1.id }.map(\.value), [])
        } catch let error as PersistenceError where error.code == .wouldLose {
            let again = PersistenceManager(models: Thing<Former>.self, store: file)
            #expect(try await again.fetch(Thing<Former>.self, sortedBy: .ascending(\.id)) == before)
            await again.close()
            return ([], error.losses)
        }
    }

    @Test("keeps the values of a dictionary whose keys the struct has")
    func fitting() async throws {
        try await fill(["color": "red"], [:])
        let found = try await values(of: [String: String].self, as: Looks.self)
        #expect(found.values == [Looks(color: "red"), Looks()])
        #expect(found.losses.isEmpty)
    }

    @Test("is refused where a dictionary has a key that the struct does not have, and counts the rows")
    func otherKeys() async throws {
        try await fill(["color": "red"], ["color": "red", "weight": "5"], ["age": "1"])
        let found = try await values(of: [String: String].self, as: Looks.self)
        #expect(found.losses.map(\.property) == ["value"])
        #expect(found.losses.map(\.rows) == [2])
        #expect(found.losses.first?.advice.contains(".narrowed(\\.value)") == true)
        #expect(try await values(of: [String: String].self, as: Looks?.self).losses.map(\.rows) == [2])
    }

    @Test("is refused for a list with anything in it")
    func lists() async throws {
        try await fill([], [1, 2])
        #expect(try await values(of: [Int].self, as: Looks.self).losses.map(\.rows) == [1])
        #expect(try await values(of: [Int].self, as: Looks?.self).losses.map(\.rows) == [1])
    }

    @Test("is refused for an enumeration's associated values")
    func enumerations() async throws {
        try await fill(Shape.circle(radius: 1))
        #expect(try await values(of: Shape.self, as: Looks.self).losses.map(\.rows) == [1])
    }

    @Test("is refused for other keys of a struct within the struct")
    func nested() async throws {
        try await fill(["size": ["width": 1]], ["size": ["width": 1, "height": 2]])
        #expect(try await values(of: [String: [String: Int]].self, as: Looks.self).losses.map(\.rows) == [1])
    }

    @Test("is refused for other keys of what is a part of a nested struct")
    func part() async throws {
        try await fill(Outer(inner: ["color": "red"]), Outer(inner: ["weight": "5"]))
        let found = try await values(of: Outer<[String: String]>.self, as: Outer<Looks>.self)
        #expect(found.losses.map(\.property) == ["value.inner"])
        #expect(found.losses.map(\.rows) == [1])
    }

    @Test("lets other parts go where the schema says that the property holds less")
    func narrowed() async throws {
        try await fill(["color": "red", "weight": "5"])
        let manager = PersistenceManager(models: Narrowed.self, store: file)
        #expect(try await manager.fetch(Narrowed.self).map(\.value) == [Looks(color: "red")])
    }
}
