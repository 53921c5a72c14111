import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

private enum Mood: String, Codable { case glad, sad }

private struct Notes: Codable {
    var words: [String]
    var marks: [Int]?
}

private struct Section: CoreModel {
    let id: Int
    var words: [String]
}

private struct Binder: CoreModel {
    let id: Int
    var title = "x"
    var tags: [String] = []
    var others: [String]?
    var sizes: [Int] = []
    var keys: Set<UUID> = []
    var flags: [Bool] = []
    var shares: [Double] = []
    var weights: [Float] = []
    var days: [Date] = []
    var links: [URL] = []
    var moods: [Mood] = []
    var notes: Notes?
    var sections: [Section] = []
}

@Suite("Filters over lists of single values")
struct ListFilterTests {
    private static let key = UUID()
    private static let day = Date(timeIntervalSinceReferenceDate: 0.1 + 0.2)
    private static let link = URL(string: "https://swift.org/a?b=c")

    private let folder: TestFolder
    private let managers: [PersistenceManager]
    private let binders = [
        Binder(
            id: 1, tags: ["x", "y", "1", "Über"], others: ["m"], sizes: [1, 2, 9_007_199_254_740_993], keys: [key],
            flags: [true], shares: [0.1 + 0.2, 1], weights: [0.1], days: [day], links: [link].compactMap(\.self),
            moods: [.glad], notes: Notes(words: ["w"], marks: [7]),
            sections: [Section(id: 1, words: ["a", "b"]), Section(id: 2, words: [])]),
        Binder(
            id: 2, flags: [false, true], shares: [1.5], moods: [.glad, .sad], sections: [Section(id: 3, words: ["c"])]),
        Binder(
            id: 3, title: "q", tags: ["a\u{0}b", "quote\"back\\slash/\n", "\\u0000", "😀"], others: [], sizes: [-5, 0],
            keys: [key, UUID()], weights: [2.5], notes: Notes(words: [])),
    ]

    init() async throws {
        folder = try TestFolder()
        managers = [
            PersistenceManager(models: Binder.self, store: .memory),
            PersistenceManager(models: Binder.self, store: .file(folder.file("a.sqlite"))),
        ]
        for manager in managers { try await manager.save(binders) }
    }

    private func expect(_ filters: [(Filter<Binder>, [Int])]) async throws {
        for (filter, ids) in filters {
            for manager in managers {
                let found = try await manager.fetch(Binder.self, where: filter, sortedBy: .ascending(\.id))
                #expect(found.map(\.id) == ids, "\(filter)")
            }
            #expect(try binders.filter(filter.matches).map(\.id) == ids, "\(filter)")
        }
    }

    @Test("ask by key path for an element, of the type that the list has")
    func keyPaths() async throws {
        let link = try #require(Self.link)
        try await expect([
            (.contains(\.tags, "x"), [1]), (.contains(\.tags, "Ü"), []), (.contains(\.tags, "1"), [1]),
            (.contains(\.sizes, 9_007_199_254_740_993), [1]), (.contains(\.sizes, 9_007_199_254_740_992), []),
            (.contains(\.keys, Self.key), [1, 3]), (.contains(\.flags, false), [2]),
            (.contains(\.shares, 0.1 + 0.2), [1]), (.contains(\.shares, 1), [1]), (.contains(\.weights, 0.1), [1]),
            (.contains(\.days, Self.day), [1]), (.contains(\.links, link), [1]), (.contains(\.moods, .sad), [2]),
        ])
    }

    @Test("find texts that JSON writes with escapes")
    func escapes() async throws {
        try await expect([
            (.contains(\.tags, "quote\"back\\slash/\n"), [3]), (.contains(\.tags, "\\u0000"), [3]),
            (.contains(\.tags, "😀"), [3]), (.contains(\.tags, "a"), []), (.format("ANY tags CONTAINS 'uote'"), [3]),
        ])
    }

    @Test("find nothing in a list that is nil, and look into nested structs and models")
    func nested() async throws {
        try await expect([
            (.contains(\.others, "m"), [1]), (!.contains(\.others, "m"), [2, 3]), (.contains(\.notes?.words, "w"), [1]),
            (.contains(\.notes?.marks, 7), [1]), (!.contains(\.notes?.words, "w"), [2, 3]),
            (.any(\.sections, .contains(\.words, "a")), [1]), (.format("ANY sections.words == 'a'"), [1]),
            (.format("'c' IN sections.words"), [2]),
            (.matching(#Predicate { $0.sections.contains { $0.words.contains("a") } }), [1]),
        ])
    }

    @Test("are also written as Swift predicates")
    func predicates() async throws {
        let (key, mood) = (Self.key, Mood.sad)
        try await expect([
            (.matching(#Predicate { $0.tags.contains("x") }), [1]),
            (.matching(#Predicate { $0.keys.contains(key) }), [1, 3]),
            (.matching(#Predicate { $0.moods.contains(mood) }), [2]),
            (.matching(#Predicate { $0.tags.contains($0.title) }), [1]),
            (.matching(#Predicate { $0.others?.contains("m") == true }), [1]),
            (.matching(#Predicate { $0.others?.contains("m") ?? false }), [1]),
            (.matching(#Predicate { $0.tags.contains { $0 == "x" } }), [1]),
            (.matching(#Predicate { $0.tags.allSatisfy { $0 == "x" } }), [2]),
            (.matching(#Predicate { $0.tags.filter { $0 == "x" || $0 == "y" }.count == 2 }), [1]),
            (.matching(#Predicate { $0.tags.isEmpty }), [2]), (.matching(#Predicate { $0.tags.count > 2 }), [1, 3]),
        ])
    }

    @Test("are formats with ANY, ALL, NONE, IN and CONTAINS, and all comparisons")
    func formats() async throws {
        try await expect([
            (.format("ANY tags == %@", "x"), [1]), (.format("'x' IN tags"), [1]), (.format("tags CONTAINS 'x'"), [1]),
            (.format("title IN tags"), [1]), (.format("ANY tags BEGINSWITH[c] 'X'"), [1]),
            (.format("ANY tags BEGINSWITH 'q'"), [3]), (.format("ANY tags ==[cd] 'uber'"), [1]),
            (.format("tags CONTAINS[c] 'X'"), [1]), (.format("ANY tags LIKE 'qu*'"), [3]),
            (.format("ANY tags IN %@", ["x", "z"]), [1]), (.format("ALL tags == 'x'"), [2]),
            (.format("NONE tags == 'x'"), [2, 3]), (.format("ANY tags != 'x'"), [1, 3]),
            (.format("ANY sizes > 1"), [1]), (.format("ANY sizes BETWEEN {-9, -1}"), [3]),
            (.format("2.0 IN sizes"), [1]),
            (.format("'2' IN sizes"), []), (.format("1 IN tags"), []), (.format("ANY days >= %@", Self.day), [1]),
            (.format("ANY moods == %@", Mood.sad), [2]), (.format("notes.words CONTAINS 'w'"), [1]),
        ])
    }

    @Test("count the elements of lists")
    func counts() async throws {
        try await expect([
            (.count(\.tags, in: 2...), [1, 3]), (.count(\.others, in: 0...0), [2, 3]),
            (.count(\.sections, in: 2...), [1]), (.format("tags.@count == 0"), [2]),
            (.format("count:(tags) == 4"), [1, 3]),
            (.format("SUBQUERY(tags, $t, $t == 'x' OR $t == 'y').@count == 2"), [1]),
        ])
    }

    @Test("pass over bytes that are not a list")
    func noList() async throws {
        for manager in managers {
            let context = manager.container.newBackgroundContext()
            try await context.perform {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Binder")
                request.predicate = NSPredicate(format: "id == 2")
                for object in try context.fetch(request) { object.setValue(Data("[\"x\", ".utf8), forKey: "tags") }
                try context.save()
            }
            #expect(try await manager.count(Binder.self, where: .contains(\.tags, "x")) == 1)
            #expect(try await manager.count(Binder.self, where: !.contains(\.tags, "x")) == 2)
        }
    }

    @Test("see what a block has not saved yet")
    func unsaved() async throws {
        try await managers[1].write { store in
            try store.save(Binder(id: 4, tags: ["new"]))
            #expect(try store.fetch(Binder.self, where: .contains(\.tags, "new")).map(\.id) == [4])
        }
    }
}
