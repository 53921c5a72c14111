import Foundation
import Pippin
import TestSupport
import Testing

/// One of whose keys is the name of another property.
private struct Info: Codable, Equatable, Sendable {
    var name: String
    var title: String
    var more: More?

    struct More: Codable, Equatable, Sendable {
        var pages: Int
        enum CodingKeys: String, CodingKey { case pages = "n" }
    }

    enum CodingKeys: String, CodingKey { case name = "title", title = "subtitle", more }
}

/// Whose identifier is stored under another name.
private struct Print: CoreModel, Equatable {
    let code: String
    var info: Info
    var id: String { code }
}

private struct Binder: CoreModel, Equatable {
    let id: Int
    var info: Info
    var prints: [Print]
    var best: Reference<Print>?
}

@Suite("Properties in Swift predicates and format strings")
struct StoredNameTests {
    private let counter: Counter
    private let binders: [Binder]

    init() async throws {
        counter = try Counter(Binder.self)
        let prints = ["a", "b"].map {
            Print(code: $0, info: Info(name: "name \($0)", title: "title \($0)", more: Info.More(pages: 3)))
        }
        binders = [
            Binder(
                id: 1, info: Info(name: "A", title: "B", more: Info.More(pages: 7)), prints: [prints[0]],
                best: Reference(prints[0])),
            Binder(id: 2, info: Info(name: "B", title: "C"), prints: prints, best: Reference(prints[1])),
        ]
        try await counter.manager.save(binders)
    }

    /// The identifiers that a filter selects in the store, which are those that it selects in memory.
    private func selected(_ filter: Filter<Binder>, inMemory: Bool = true) async throws -> [Int] {
        let found = try await counter.manager.fetch(Binder.self, where: filter, sortedBy: .ascending(\.id)).map(\.id)
        if inMemory { #expect(try binders.filter(filter.matches).map(\.id) == found) }
        return found
    }

    @Test("are not taken for those of nested structs that are called like their keys")
    func nested() async throws {
        #expect(try await selected(.matching(#Predicate { $0.info.title == "B" })) == [1])
        #expect(try await selected(.matching(#Predicate { $0.info.name == "B" })) == [2])
        #expect(try await selected(.format("info.title == %@", "B")) == [1])
        #expect(try await selected(.format("info.name == %@", "B")) == [2])
        #expect(try await selected(\.info.title == "B") == [1])
    }

    @Test("are found at every depth")
    func deeper() async throws {
        #expect(try await selected(.matching(#Predicate { $0.info.more?.pages == 7 })) == [1])
        #expect(try await selected(.format("info.more.pages == 7")) == [1])
    }

    @Test("are found in members of lists")
    func members() async throws {
        #expect(
            try await selected(.matching(#Predicate { $0.prints.contains { $0.info.title == "title b" } })) == [2])
        #expect(
            try await selected(
                .matching(#Predicate { $0.prints.filter { $0.info.name == "name a" }.count == 1 })) == [1, 2])
        #expect(try await selected(.format("ANY prints.info.title == 'title b'")) == [2])
        #expect(
            try await selected(.format("SUBQUERY(prints, $p, $p.info.more.pages == 3).@count == 2")) == [2])
    }

    @Test("include the identifier that a reference calls id, whatever the model calls it")
    func identifiers() async throws {
        #expect(try await selected(.matching(#Predicate { $0.best?.id == "b" })) == [2])
        #expect(try await selected(.format("best.id == 'b'")) == [2])
        #expect(try await selected(\.best?.id == "b") == [2])
    }

    @Test("may have the store's own names in format strings, where no property is called so")
    func storedNames() async throws {
        #expect(try await selected(.format("info.subtitle == 'B'")) == [1])
        #expect(try await selected(.format("info.more.n == 7 AND best.code == 'a'")) == [1])
    }
}
