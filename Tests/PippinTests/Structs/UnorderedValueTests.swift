import Pippin
import Testing

private struct Basket: CoreModel, Equatable {
    enum Fruit: String, Codable { case apple, pear, plum, fig, date, quince, cherry, grape, peach, lime }
    let id: Int
    var words: Set<String>
    var counts: [Fruit: Int]?
    var groups: Set<Set<Int>>
    var box = Box(words: ["a", "b"])
    /// Sets within a list, which are in any order.
    var shelves: [Set<String>] = [["a"]]

    struct Box: Codable, Equatable { var words: Set<String> }
}

@Suite("Sets, and dictionaries that are encoded as lists")
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

    @Test("are compared as a whole in filters, unless another value has sets in it that are in any order")
    func filters() async throws {
        let (one, other) = (basket(capacity: 40), basket(capacity: 5000))
        let manager = PersistenceManager(models: Basket.self, store: .memory)
        try await manager.save(one)
        let filters: [(Filter<Basket>, Int)] = [
            (\.words == other.words, 1), (\.words == ["word 1", "word 2"], 0), (\.counts == other.counts, 1),
            (\.counts != [.apple: 1, .fig: 2], 1), (\.groups == other.groups, 1), (\.box.words == ["a", "b"], 1),
            (\.box == Basket.Box(words: ["b", "a"]), 1), (\.box == Basket.Box(words: ["b", "c"]), 0),
        ]
        for (filter, count) in filters {
            #expect(try await manager.count(Basket.self, where: filter) == count, "\(filter)")
            #expect(try filter.matches(one) == (count == 1), "\(filter)")
        }
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.count(Basket.self, where: \.shelves == [["a", "b"]])
        }
        #expect(error?.code == .notComparable)
        #expect(try await manager.count(Basket.self, where: \.shelves == [["a"]]) == 1)
    }
}
