import Pippin
import Testing

private struct Product: CoreModel, Equatable {
    let id: String
    var stock: [String: Int] = [:]
    var tags: [String] = []
    var notes: [Remark]?
}

private struct Remark: CoreModel, Equatable {
    let id: Int
    var text: String
}

private struct Line: CoreModel, Equatable {
    let id: Int
    var product: Product
}

private struct Group: Codable, Equatable, Sendable {
    var members: Set<String>
    var order: [String] = []
    var ranks: [Rank: Int] = [:]
    enum Rank: String, Codable { case first, second, third }
}

private struct Rules: Codable, Equatable, Sendable {
    var name = "rules"
    var groups: [Group]
    var best: Group?
}

private struct Team: CoreModel, Equatable {
    let id: Int
    var rules: Rules
}

private struct Match: CoreModel, Equatable {
    let id: Int
    var team: Team
}

private struct Category: CoreModel, Equatable {
    let id: Int
    var name = "Lamps"
    var children: [Category] = []
}

private struct Article: CoreModel, Equatable {
    let id: Int
    var name: String
    var category: Category?
}

private struct Entry: CoreModel, Equatable {
    let id: Int
    var article: Article
}

private struct Wordsmith: CoreModel, Equatable {
    let id: Int
    var name: String
    var works: [Opus] = []
}

private struct Opus: CoreModel, Equatable {
    let id: Int
    var writer: Wordsmith?
}

private struct Acquaintance: CoreModel, Equatable {
    let id: Int
    var name = "Ann"
    var friends: [Acquaintance]?
}

private struct Message: CoreModel, Equatable {
    let id: Int
    var author: Acquaintance
}

@Suite("Copies of one model that differ")
struct DifferingCopiesTests {
    /// The property that a save is refused for.
    private func refused<Model: CoreModel>(_ models: [Model]) async throws -> String? {
        let manager = PersistenceManager(models: Model.self, store: .memory)
        let error = await #expect(throws: PersistenceError.self) { try await manager.save(models) }
        #expect(error?.code == .unwritable)
        #expect(try await manager.count(Model.self) == 0)
        return error?.property
    }

    @Test(
        "are refused with another order of the same characters: other numbers of a dictionary, a list in another order")
    func anagrams() async throws {
        func lines(_ one: Product, _ other: Product) -> [Line] {
            [Line(id: 1, product: one), Line(id: 2, product: other)]
        }
        let product = Product(id: "p", stock: ["s": 1, "m": 2], tags: ["ab", "c"])
        var other = product
        other.stock = ["s": 2, "m": 1]
        #expect(try await refused(lines(product, other)) == "stock")
        other = product
        other.tags = ["c", "ab"]
        #expect(try await refused(lines(product, other)) == "tags")
        other.tags = ["ba", "c"]
        #expect(try await refused(lines(product, other)) == "tags")
    }

    @Test("are refused if they are given themselves, and saved once if they are equal")
    func given() async throws {
        let (one, other) = (Product(id: "p", tags: ["a"]), Product(id: "p", tags: ["b"]))
        #expect(try await refused([one, Product(id: "q"), other]) == "tags")
        let manager = PersistenceManager(models: Product.self, Line.self, store: .memory)
        try await manager.save([one, Product(id: "q"), one])
        #expect(try await manager.fetch(Product.self, sortedBy: .ascending(\.id)) == [one, Product(id: "q")])
        for verb in ["update", "replaceAll", "insert"] {
            let error = await #expect(throws: PersistenceError.self) {
                try await manager.write { store in
                    switch verb {
                    case "update": try store.update([one, other])
                    case "replaceAll": try store.replaceAll(with: [one, other])
                    default: try store.insert([one, one])
                    }
                }
            }
            #expect(error?.code == (verb == "insert" ? .alreadyStored : .unwritable), "\(verb)")
        }
        // One of several saves is later than the other.
        try await manager.write { store in
            try store.save(one)
            try store.save(other)
        }
        #expect(try await manager.find(Product.self, id: "p") == other)
    }

    @Test("are refused with the list's name where one has nil and the other one an empty list")
    func marks() async throws {
        let (none, empty) = (Product(id: "p", notes: nil), Product(id: "p", notes: []))
        #expect(try await refused([Line(id: 1, product: none), Line(id: 2, product: empty)]) == "notes")
    }

    private func team(_ id: Int, capacity: Int, order: [String] = ["a", "b"]) -> Team {
        var members = Set<String>(minimumCapacity: capacity)
        var ranks = [Group.Rank: Int](minimumCapacity: capacity)
        for number in 0..<40 { members.insert("member \(number)") }
        for (number, rank) in [Group.Rank.first, .second, .third].enumerated() { ranks[rank] = number }
        let group = Group(members: members, order: order, ranks: ranks)
        return Team(id: id, rules: Rules(groups: [group], best: group))
    }

    @Test("are equal if only the order of sets differs, wherever these are")
    func sets() async throws {
        let (one, other) = (team(1, capacity: 40), team(1, capacity: 5_000))
        #expect(one == other)
        let manager = PersistenceManager(models: Match.self, store: .memory)
        try await manager.save([Match(id: 1, team: one), Match(id: 2, team: other)])
        #expect(try await manager.fetch(Match.self, sortedBy: .ascending(\.id)).map(\.team) == [one, one])
        let turned = team(1, capacity: 5_000, order: ["b", "a"])
        #expect(try await refused([Match(id: 1, team: one), Match(id: 2, team: turned)]) == "rules")
    }

    @Test("are refused if models that contain themselves are somewhere within them")
    func leadingToCycles() async throws {
        let entries = [
            Entry(id: 1, article: Article(id: 1, name: "A", category: Category(id: 1))),
            Entry(id: 2, article: Article(id: 1, name: "B", category: Category(id: 1))),
        ]
        #expect(try await refused(entries) == "name")
        let categories = [
            Entry(id: 1, article: Article(id: 1, name: "A", category: Category(id: 1))),
            Entry(id: 2, article: Article(id: 2, name: "B", category: Category(id: 1, name: "Tables"))),
        ]
        #expect(try await refused(categories) == "name")
    }

    @Test("are refused in models that lead back to themselves if they are equally near; older ones may be inside")
    func onCycles() async throws {
        let manager = PersistenceManager(models: Opus.self, store: .memory)
        let writer = Wordsmith(id: 1, name: "Jane Austen")
        try await manager.save([Opus(id: 1, writer: writer), Opus(id: 2, writer: writer)])
        try await manager.write { store in
            var writer = try #require(try store.find(Wordsmith.self, id: 1))
            writer.works = try store.fetch(Opus.self)
            try store.save(writer)
        }
        var works = try await manager.fetch(Opus.self, sortedBy: .ascending(\.id))
        works[1].writer?.name = "J. Austen"
        let changed = works
        let error = await #expect(throws: PersistenceError.self) { try await manager.save(changed) }
        #expect(error?.code == .unwritable && error?.entity == "Wordsmith" && error?.property == "name")
        works[0].writer?.name = "J. Austen"
        try await manager.save(works)
        #expect(try await manager.fetch(Wordsmith.self).map(\.name) == ["J. Austen"])
        #expect(try await manager.fetch(Wordsmith.self).map(\.works.count) == [2])
    }

    @Test("are refused for their lists in models that lead back to themselves, too, where other ones lead to both")
    func listsOnCycles() async throws {
        let (none, empty) = (Acquaintance(id: 1, friends: nil), Acquaintance(id: 1, friends: []))
        #expect(try await refused([Message(id: 1, author: none), Message(id: 2, author: empty)]) == "friends")
        let manager = PersistenceManager(models: Message.self, store: .memory)
        let ann = Acquaintance(id: 1, friends: [Acquaintance(id: 2, friends: [Acquaintance(id: 1)])])
        try await manager.save([Message(id: 1, author: ann), Message(id: 2, author: ann)])
        let stored = try await manager.fetch(Message.self, sortedBy: .ascending(\.id))
        try await manager.save(stored)
        #expect(try await manager.fetch(Message.self, sortedBy: .ascending(\.id)) == stored)
        var changed = stored
        changed[1].author.friends?.append(Acquaintance(id: 3))
        let differing = changed
        let error = await #expect(throws: PersistenceError.self) { try await manager.save(differing) }
        #expect(error?.code == .unwritable && error?.entity == "Acquaintance" && error?.property == "friends")
        changed[0].author.friends?.append(Acquaintance(id: 3))
        try await manager.save(changed)
        #expect(try await manager.find(Acquaintance.self, id: 1)?.friends?.map(\.id) == [2, 3])
    }
}
