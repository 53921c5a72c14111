import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

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

@CoreModel
private struct Entry: Equatable {
    let id: Int
    var text: String
    var tags: [Keyword] = []
    var createdAt: Date?
    var updatedAt: Date?
    static var schema: Schema<Entry> { Schema(.createdAt(\.createdAt), .updatedAt(\.updatedAt)) }
}

@CoreModel
private struct Keyword: Equatable {
    let id: String
    var updatedAt = Date(timeIntervalSinceReferenceDate: 0)
    static var schema: Schema<Keyword> { Schema(.updatedAt(\.updatedAt)) }
}

@Suite("Dates that saves fill in")
struct SaveDateTests {
    private let ways: BothWays

    init() throws { ways = try BothWays { PersistenceManager(models: Entry.self, store: $0) } }

    /// Does something by rows and through objects, and gives what is stored of an entry then.
    private func stored(_ id: Int = 1, _ work: (WriteAccess) throws -> Void) async throws -> [Entry] {
        try ways.rows.writeAndWait { try work($0) }
        try ways.objects.writeAndWait { store in
            store.access.savesRows = false
            try work(store)
        }
        return try await [ways.rows, ways.objects].asyncMap { try #require(try await $0.find(Entry.self, id: id)) }
    }

    private func wait() async throws { try await Task.sleep(for: .milliseconds(20)) }

    @Test("are those of the first save and of the latest change, whatever a copy of the model says")
    func both() async throws {
        let start = Date()
        let first = try await stored { try $0.save(Entry(id: 1, text: "A")) }
        for entry in first {
            #expect(try #require(entry.createdAt) >= start && entry.createdAt.map { $0 <= Date() } ?? false)
            #expect(abs(try #require(entry.updatedAt).timeIntervalSince(try #require(entry.createdAt))) < 1)
        }
        try await wait()
        // The copy has neither date.
        let second = try await stored { try $0.save(Entry(id: 1, text: "B")) }
        for (old, new) in zip(first, second) {
            #expect(new.text == "B" && new.createdAt == old.createdAt)
            #expect(try #require(new.updatedAt) > #require(old.updatedAt))
        }
        try await wait()
        // Nothing else changes, so that nothing does.
        let third = try await stored {
            try $0.save(Entry(id: 1, text: "B", createdAt: .distantPast, updatedAt: .distantFuture))
        }
        #expect(third == second)
    }

    @Test("are kept by new models that bring them along, as in an import, but for that of the change")
    func given() async throws {
        let old = Date(timeIntervalSinceReferenceDate: 1_000)
        for entry in try await stored(1, { try $0.save(Entry(id: 1, text: "A", createdAt: old, updatedAt: old)) }) {
            #expect(entry.createdAt == old)
            #expect(try #require(entry.updatedAt) > Date(timeIntervalSinceNow: -60))
        }
    }

    @Test("are set by an update of what a filter selects, in a block and by a statement, unless it sets them itself")
    func updated() async throws {
        let first = try await stored { try $0.save(Entry(id: 1, text: "A")) }
        try await wait()
        let second = try await stored { try $0.update(Entry.self, where: .all) { $0.set(\.text, to: "B") } }
        for (old, new) in zip(first, second) {
            #expect(new.createdAt == old.createdAt)
            #expect(try #require(new.updatedAt) > #require(old.updatedAt))
        }
        try await wait()
        try await ways.rows.update(Entry.self, where: .all) { $0.set(\.text, to: "C") }
        let third = try #require(try await ways.rows.find(Entry.self, id: 1))
        #expect(try third.text == "C" && #require(third.updatedAt) > #require(second[0].updatedAt))
        let date = Date(timeIntervalSinceReferenceDate: 5)
        for entry in try await stored(1, { try $0.update(Entry.self, where: .all) { $0.set(\.updatedAt, to: date) } }) {
            #expect(entry.updatedAt == date)
        }
        try await ways.rows.update(Entry.self, where: .all) { $0.set(\.createdAt, to: date) }
        #expect(try await ways.rows.find(Entry.self, id: 1)?.createdAt == date)
    }

    @Test("belong to the model that changes: its list counts, and what is in the list does not")
    func lists() async throws {
        let first = try await stored { try $0.save(Entry(id: 1, text: "A", tags: [Keyword(id: "x")])) }
        try await wait()
        let second = try await stored {
            try $0.save(Entry(id: 1, text: "A", tags: [Keyword(id: "x"), Keyword(id: "y")]))
        }
        for (old, new) in zip(first, second) {
            #expect(try #require(new.updatedAt) > #require(old.updatedAt))
            let labels = Dictionary(uniqueKeysWithValues: new.tags.map { ($0.id, $0.updatedAt) })
            #expect(labels["x"] == old.tags[0].updatedAt)
            #expect(try #require(labels["y"]) > old.tags[0].updatedAt)
        }
    }

    @Test("are dates of the model, each filled in by one rule")
    func mistakes() async {
        struct Twice: CoreModel {
            let id: Int
            var date: Date?
            static var schema: Schema<Twice> { Schema(.createdAt(\.date), .updatedAt(\.date)) }
        }
        let error = await #expect(throws: PersistenceError.self) {
            try await PersistenceManager(models: Twice.self, store: .memory).load()
        }
        #expect(error?.code == .notDerivable && error?.description.contains("two rules") ?? false)
    }
}

extension Array {
    fileprivate func asyncMap<Result>(_ work: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await work(element)) }
        return results
    }
}
