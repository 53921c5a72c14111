import Pippin
import TestSupport
import Testing

/// A shift of names, which a store of the former version can tell from the present one.
private struct Person: CoreModel, Equatable {
    let id: Int
    var last: String
    var nick: String
    var alias: String

    static var schema: Schema<Person> {
        Schema(.renamed(\.last, from: "first"), .renamed(\.nick, from: "last"), .renamed(\.alias, from: "nick"))
    }
}

private enum Former {
    struct Person: CoreModel {
        let id: Int
        var first: String
        var last: String
        var nick: String
    }

    struct AsBefore: CoreModel {
        let id: Int
        var first: String
    }
}

private struct Swapped: CoreModel {
    let id: Int
    var first: String
    var last: String
    var nick: String

    static var schema: Schema<Swapped> {
        Schema(
            .renamed(from: "Person"), .renamed(\.first, from: "nick"), .renamed(\.last, from: "first"),
            .renamed(\.nick, from: "last"))
    }
}

private struct TwiceNamed: CoreModel {
    let id: Int
    var name: String

    static var schema: Schema<TwiceNamed> { Schema(.renamed(\.name, from: "first"), .renamed(\.name, from: "last")) }
}

private struct TwiceRenamed: CoreModel {
    let id: Int

    static var schema: Schema<TwiceRenamed> { Schema(.renamed(from: "Person"), .renamed(from: "Human")) }
}

private struct AsBefore: CoreModel {
    let id: Int
    var first: String

    static var schema: Schema<AsBefore> { Schema(.renamed(\.first, from: "first"), .renamed(\.first, from: "first")) }
}

@Suite("Former names in a schema")
struct FormerNameTests {
    private func refusal<Model: CoreModel>(_ type: Model.Type) async -> PersistenceError? {
        await #expect(throws: PersistenceError.self) {
            try await PersistenceManager(models: type, store: .memory).load()
        }
    }

    @Test("are refused for properties that change places, since no store shows whether they have done so")
    func circle() async throws {
        let error = await refusal(Swapped.self)
        #expect(error?.code == .notDerivable)
        #expect(error?.localizedDescription.contains("'first'") == true)
        #expect(error?.localizedDescription.contains("change places with 'nick'") == true)
    }

    @Test("are refused where a property or a struct has two of them")
    func several() async throws {
        let property = await refusal(TwiceNamed.self)
        #expect(property?.code == .notDerivable)
        #expect(property?.localizedDescription.contains("two former names, 'first' and 'last'") == true)
        let model = await refusal(TwiceRenamed.self)
        #expect(model?.code == .notDerivable)
        #expect(model?.localizedDescription.contains("two former names, 'Person' and 'Human'") == true)
    }

    @Test("may be the name that it has, and that of another property which has a new one")
    func shift() async throws {
        let folder = try TestFolder()
        let store = StoreLocation.file(folder.file("persons.sqlite"))
        try await PersistenceManager(models: Former.Person.self, Former.AsBefore.self, store: store).write { store in
            try store.save(Former.Person(id: 1, first: "Jane", last: "Austen", nick: "Jenny"))
            try store.save(Former.AsBefore(id: 1, first: "Jane"))
        }
        let manager = PersistenceManager(models: Person.self, AsBefore.self, store: store)
        let person = try await manager.find(Person.self, id: 1)
        #expect(person == Person(id: 1, last: "Jane", nick: "Austen", alias: "Jenny"))
        #expect(try await manager.find(AsBefore.self, id: 1)?.first == "Jane")
    }
}
