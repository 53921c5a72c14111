import Pippin
import Testing

@Suite("Filters that are put together in a loop")
struct LargeFilterTests {
    struct Card: CoreModel {
        let id: Int
        var suit: Int
    }

    private let manager = PersistenceManager(models: Card.self, store: .memory)
    private let card = Card(id: 7, suit: 3)

    @Test("may have thousands of alternatives, added at either end", arguments: [false, true])
    func alternatives(inFront: Bool) async throws {
        try await manager.save((0..<50).map { Card(id: $0, suit: $0 % 4) })
        var filter: Filter<Card> = \.id == -1
        for id in 10..<20_010 { filter = inFront ? \.id == id || filter : filter || \.id == id }
        let found = try await manager.count(Card.self, where: filter)
        #expect(found == 40)
        #expect(try !filter.matches(card))
        #expect(try (filter || \.suit == 3).matches(card))
    }

    @Test("may have thousands of conditions")
    func conditions() async throws {
        try await manager.save((0..<50).map { Card(id: $0, suit: $0 % 4) })
        var filter: Filter<Card> = \.suit < 9
        for id in 10..<10_000 { filter = filter && \.id != id }
        let found = try await manager.count(Card.self, where: filter)
        #expect(found == 10)
        #expect(try filter.matches(card))
    }

    @Test("keep the order of what they are made of, in one row")
    func order() {
        let (first, second): (Filter<Card>, Filter<Card>) = (\.id == 1 || \.id == 2, \.id == 3 || \.id == 4)
        #expect("\(first || second)" == "id == 1 OR id == 2 OR id == 3 OR id == 4")
        #expect("\(first && second)" == "(id == 1 OR id == 2) AND (id == 3 OR id == 4)")
        #expect("\(!(!first))" == "\(first)")
    }

    @Test("are refused when they nest deeper than anything can read, and not by a crash")
    func nesting() async {
        var filter: Filter<Card> = \.id == 1
        for number in 0..<100_000 { filter = number % 2 == 0 ? filter || \.suit == 1 : filter && \.suit < 9 }
        let error = await #expect(throws: PersistenceError.self) { try await manager.count(Card.self, where: filter) }
        #expect(error?.code == .malformedFilter)
        #expect(throws: PersistenceError.self) { try filter.matches(card) }
    }
}
