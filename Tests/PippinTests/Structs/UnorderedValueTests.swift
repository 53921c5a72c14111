import Pippin
import Testing

private struct Basket: CoreModel, Equatable {
    enum Fruit: String, Codable { case apple, pear, plum, fig, date, quince, cherry, grape, peach, lime }
    let id: Int
    var words: Set<String>
    var counts: [Fruit: Int]?
    var groups: Set<Set<Int>>
}

@Suite("Sets, and dictionaries that are encoded as lists,")
struct UnorderedValueTests {
    /// Equal baskets, whose collections are in another order where their capacity differs.
    private func basket(capacity: Int) -> Basket {
        var words = Set<String>(minimumCapacity: capacity)
        var groups = Set<Set<Int>>(minimumCapacity: capacity)
        for number in 0..<40 {
            words.insert("word \(number)")
            groups.insert([number, number + 1, number + 2])
        }
        var counts = [Basket.Fruit: Int](minimumCapacity: capacity)
        let fruits: [Basket.Fruit] = [.apple, .pear, .plum, .fig, .date, .quince, .cherry, .grape, .peach, .lime]
        for (number, fruit) in fruits.enumerated() { counts[fruit] = number }
        return Basket(id: 1, words: words, counts: counts, groups: groups)
    }

    private func stream(_ basket: Basket) -> AsyncStream<Basket> {
        AsyncStream { continuation in
            continuation.yield(basket)
            continuation.finish()
        }
    }

    @Test("come back as they were, and are not written again if they are equal")
    func unchanged() async throws {
        let (one, other) = (basket(capacity: 40), basket(capacity: 5000))
        #expect(one == other)
        #expect(Array(one.words) != Array(other.words))
        let counter = try Counter(Basket.self)
        try await counter.manager.save(one)
        let report = try await counter.manager.importModels(stream(other))
        #expect(report.skipped == 1)
        #expect(report.updated == 0)
        #expect(try await counter.manager.fetch(Basket.self) == [one])
        var changed = other
        changed.words.remove("word 7")
        #expect(try await counter.manager.importModels(stream(changed)).updated == 1)
        #expect(try await counter.manager.fetch(Basket.self) == [changed])
    }
}
