import Foundation
import Pippin
import Testing

private struct Chapter: CoreModel {
    let id: Int
    var words: [String]
}

private struct Tome: CoreModel {
    let id: Int
    var tags: [String]
    var sizes: [String: Int]?
    var chapters: [Chapter] = []
}

@Suite("Filters over what is kept as JSON")
struct JSONFilterTests {
    private let manager: PersistenceManager
    private let tomes = [
        Tome(id: 1, tags: ["x", "y"], sizes: ["small": 1], chapters: [Chapter(id: 1, words: ["a"])]),
        Tome(id: 2, tags: []),
    ]

    init() async throws {
        manager = PersistenceManager(models: Tome.self, store: .memory)
        try await manager.save(tomes)
    }

    @Test("are refused in a store and in memory, since neither looks into it")
    func refused() async throws {
        let filters: [Filter<Tome>] = [
            .matching(#Predicate { $0.tags.contains("x") }), .matching(#Predicate { $0.tags.isEmpty }),
            .matching(#Predicate { $0.tags.count > 2 }), .matching(#Predicate { $0.tags[0] == "x" }),
            .matching(#Predicate { $0.tags.contains { $0 == "x" } }),
            .matching(#Predicate { $0.chapters.contains { $0.words.contains("a") } }),
            .matching(#Predicate { $0.sizes.flatMap { $0["small"] } == 1 }),
            .format("ANY tags == %@", "x"), .format("'x' IN tags"), .format("tags == %@", ["x"]),
            .format("tags.@count == 0"), .format("tags.first == 'x'"), .format("tags[0] == 'x'"),
            .format("SUBQUERY(tags, $t, $t == 'x').@count > 0"), .format("ANY chapters.words == 'a'"),
            .format("tags > %@", Data()), .format("length(tags) > 2"), .format("ANY tags == nil"),
        ]
        for filter in filters {
            let error = await #expect(throws: PersistenceError.self) {
                try await manager.fetch(Tome.self, where: filter)
            }
            #expect(error?.code == .keptAsJSON, "\(filter)")
            let inMemory = #expect(throws: PersistenceError.self) { try filter.matches(tomes[0]) }
            #expect(inMemory?.code == .keptAsJSON, "\(filter)")
        }
    }

    @Test("compare the whole, and tell whether there is a value")
    func whole() async throws {
        let filters: [(Filter<Tome>, [Int])] = [
            (\.tags == ["x", "y"], [1]), (\.tags != [], [1]), (.matching(#Predicate { $0.sizes == nil }), [2]),
            (.format("sizes != nil"), [1]), (.format("tags == %@", Data("[]".utf8)), [2]),
            (.format("chapters.@count == 1"), [1]),
        ]
        for (filter, ids) in filters {
            #expect(try await manager.fetch(Tome.self, where: filter).map(\.id) == ids, "\(filter)")
            #expect(try tomes.filter(filter.matches).map(\.id) == ids, "\(filter)")
        }
    }
}
