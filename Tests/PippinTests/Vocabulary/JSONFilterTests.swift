import Foundation
import Pippin
import Testing

private struct Chapter: CoreModel {
    let id: Int
    var words: [String]
}

private struct Pair: Codable, Hashable {
    var a: Int
}

private struct Tome: CoreModel {
    let id: Int
    var tags: [String]
    var pairs: [Pair] = []
    var blobs: [Data] = []
    var wide: [UInt64] = []
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

    @Test("are refused in a store and in memory, where they ask for more than the elements of a list of single values")
    func refused() async throws {
        let filters: [Filter<Tome>] = [
            .matching(#Predicate { $0.tags[0] == "x" }), .format("tags.first == 'x'"), .format("tags[0] == 'x'"),
            .matching(#Predicate { $0.sizes.flatMap { $0["small"] } == 1 }), .format("ANY sizes == 1"),
            .format("tags == %@", ["x"]), .format("tags == 'x'"), .format("tags BEGINSWITH 'x'"),
            .format("tags > %@", Data()), .format("length(tags) > 2"), .format("ANY tags == nil"),
            .format("chapters.words.@count == 1"), .format("tags.@max.self == 'x'"), .contains(\.pairs, Pair(a: 1)),
            .count(\.pairs, in: 1...), .format("ANY pairs.a == 1"),
            .matching(#Predicate { $0.pairs.contains { $0.a == 1 } }),
            .contains(\.blobs, Data()), .contains(\.wide, 1),
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
