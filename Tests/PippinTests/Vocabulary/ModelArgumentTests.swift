import Pippin
import Testing

private struct Scribe: CoreModel, Equatable {
    let id: String
}

private struct Scroll: CoreModel, Equatable {
    let id: Int
    var isTranslated = false
    var author: Reference<Scribe>?
    var translator: Reference<Scribe>?
}

@Suite("Models in filters, compared with one of several")
struct ModelArgumentTests {
    private let manager: PersistenceManager
    private let jane = Reference<Scribe>(id: "jane")
    private let emma = Reference<Scribe>(id: "emma")
    private let scrolls: [Scroll]

    init() async throws {
        scrolls = [
            Scroll(id: 1, author: jane, translator: emma),
            Scroll(id: 2, isTranslated: true, author: jane, translator: emma),
            Scroll(id: 3, author: emma), Scroll(id: 4),
        ]
        manager = PersistenceManager(models: Scroll.self, Scribe.self, store: .memory)
        try await manager.save([Scribe(id: "jane"), Scribe(id: "emma")])
        try await manager.save(scrolls)
    }

    private func ids(_ filter: Filter<Scroll>) async throws -> [Int] {
        let found = try await manager.fetch(Scroll.self, where: filter, sortedBy: .ascending(\.id)).map(\.id)
        #expect(try scrolls.filter { try filter.matches($0) }.map(\.id) == found, "\(filter)")
        return found
    }

    @Test("are compared by their identifiers where a condition chooses them")
    func conditions() async throws {
        let (jane, emma) = (jane, emma)
        let wrote = #Predicate<Scroll> { ($0.isTranslated ? $0.translator : $0.author) == jane }
        let didNot = #Predicate<Scroll> { ($0.isTranslated ? $0.translator : $0.author) != jane }
        #expect(try await ids(.matching(wrote)) == [1])
        #expect(try await ids(.matching(didNot)) == [2, 3, 4])
        #expect(try await ids(.matching(#Predicate { ($0.author ?? emma) == emma })) == [3, 4])
        #expect(try await ids(.format("TERNARY(isTranslated == 1, translator, %@) == translator", emma)) == [1, 2])
    }

    @Test("are compared by their identifiers in a list with properties in it")
    func lists() async throws {
        #expect(try await ids(.format("author != nil AND author IN {translator, %@}", emma)) == [3])
    }

    @Test("are refused beside what is not a model")
    func refused() async throws {
        let filter = Filter<Scroll>.format("CAST(author, 'NSNumber') == %@", jane)
        let error = await #expect(throws: PersistenceError.self) { try await manager.fetch(Scroll.self, where: filter) }
        #expect(error?.code == .notComparable)
        let inMemory = #expect(throws: PersistenceError.self) { try filter.matches(scrolls[0]) }
        #expect(inMemory?.code == .notComparable)
    }
}

@Suite("Related models in filters")
struct RelatedModelFilterTests {
    private struct Person: CoreModel, Equatable {
        let id: String
        var name: String
    }

    private struct Bill: CoreModel, Equatable {
        let id: Int
        var payer: Person
        var customer: Person?
    }

    private let ann = Person(id: "a", name: "Ann")
    private let bob = Person(id: "b", name: "Bob")

    @Test("are compared by their identifiers, whatever their other values are")
    func comparisons() async throws {
        let bills = [
            Bill(id: 1, payer: ann, customer: bob), Bill(id: 2, payer: bob), Bill(id: 3, payer: ann, customer: ann),
        ]
        let manager = PersistenceManager(models: Bill.self, store: .memory)
        try await manager.save(bills)
        func ids(_ filter: Filter<Bill>) async throws -> [Int] {
            let found = try await manager.fetch(Bill.self, where: filter, sortedBy: .ascending(\.id)).map(\.id)
            #expect(try bills.filter { try filter.matches($0) }.map(\.id) == found, "\(filter)")
            return found
        }
        let renamed = Person(id: "a", name: "Anna")
        #expect(try await ids(\.payer == renamed) == [1, 3])
        #expect(try await ids(\.customer == renamed) == [3])
        #expect(try await ids(\.customer != renamed) == [1, 2])
        #expect(try await ids(.in(\.customer, [renamed, nil])) == [2, 3])
        #expect(try await ids(.in(\.payer, [bob])) == [2])
        #expect("\(\Bill.customer == renamed)" == "customer == \"a\"")
    }
}
