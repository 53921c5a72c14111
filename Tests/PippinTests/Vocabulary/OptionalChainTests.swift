import Pippin
import Testing

private struct Prize: CoreModel, Equatable {
    let id: Int
    var year: Int
}

private struct Poet: CoreModel, Equatable {
    let id: Int
    var name: String
    var prizes: [Prize] = []
}

private struct Poem: CoreModel, Equatable {
    let id: Int
    var subtitle: String?
    var pages: Int?
    var poet: Poet?
}

@Suite("Optional chains in a #Predicate")
struct OptionalChainTests {
    private let manager: PersistenceManager
    private let poems = [
        Poem(id: 1),
        Poem(id: 2, subtitle: "", pages: 3, poet: Poet(id: 1, name: "Ann")),
        Poem(id: 3, subtitle: "An ode", pages: 9, poet: Poet(id: 2, name: "", prizes: [Prize(id: 1, year: 1990)])),
    ]

    init() async throws {
        manager = PersistenceManager(models: Poem.self, store: .memory)
        try await manager.save(poems)
    }

    /// The identifiers that a predicate selects: in the store, by the filter in memory, and by Swift's own evaluation.
    private func ids(_ predicate: Predicate<Poem>) async throws -> [Int] {
        let filter = Filter.matching(predicate)
        let found = try await manager.fetch(Poem.self, where: filter, sortedBy: .ascending(\.id)).map(\.id)
        #expect(try poems.filter { try filter.matches($0) }.map(\.id) == found, "\(filter)")
        #expect(try poems.filter { try predicate.evaluate($0) }.map(\.id) == found, "\(filter)")
        return found
    }

    @Test("are nil without the value that they begin with, if they end in a Boolean")
    func booleans() async throws {
        #expect(try await ids(#Predicate { $0.subtitle?.isEmpty == false }) == [3])
        #expect(try await ids(#Predicate { $0.subtitle?.isEmpty == true }) == [2])
        #expect(try await ids(#Predicate { $0.subtitle?.isEmpty != false }) == [1, 2])
        #expect(try await ids(#Predicate { $0.subtitle?.isEmpty ?? true }) == [1, 2])
        #expect(try await ids(#Predicate { $0.subtitle?.isEmpty ?? false }) == [2])
        #expect(try await ids(#Predicate { !($0.subtitle?.isEmpty ?? false) }) == [1, 3])
        #expect(try await ids(#Predicate { $0.subtitle?.contains("ode") ?? true }) == [1, 3])
        #expect(try await ids(#Predicate { $0.subtitle?.contains("ode") == true }) == [3])
        #expect(try await ids(#Predicate { $0.pages.flatMap { $0 > 5 } ?? true }) == [1, 3])
    }

    @Test("are nil without the model before them, if they count or look at members")
    func members() async throws {
        #expect(try await ids(#Predicate { $0.poet?.prizes.isEmpty == true }) == [2])
        #expect(try await ids(#Predicate { $0.poet?.prizes.isEmpty ?? true }) == [1, 2])
        #expect(try await ids(#Predicate { $0.poet?.prizes.count == 0 }) == [2])
        #expect(try await ids(#Predicate { ($0.poet?.prizes.count ?? 7) > 6 }) == [1])
        #expect(try await ids(#Predicate { $0.poet?.prizes.allSatisfy { $0.year > 2000 } == true }) == [2])
        #expect(try await ids(#Predicate { $0.poet?.prizes.contains { $0.year < 2000 } ?? false }) == [3])
        #expect(try await ids(#Predicate { $0.poet?.name.isEmpty == true }) == [3])
    }

    @Test("are nil where a part is, if they lead to a value")
    func values() async throws {
        #expect(try await ids(#Predicate { $0.poet?.name == "Ann" }) == [2])
        #expect(try await ids(#Predicate { ($0.subtitle?.count ?? 0) == 0 }) == [1, 2])
        let title: String? = nil
        #expect(try await ids(#Predicate { title?.isEmpty ?? ($0.pages == 3) }) == [2])
    }
}
