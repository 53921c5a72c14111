import Testing

@testable import Pippin

@Suite("Live queries")
struct ObservationTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() throws { counter = try Counter(Shop.self, Coin.self) }

    @Test("give what is there, then each change")
    func list() async throws {
        try await manager.save(StructRoundTripTests.jane)
        var states = manager.observe(Writer.self, sortedBy: .ascending(\.id)).makeAsyncIterator()
        #expect(try await states.next()?.map(\.id) == ["jane"])
        try await manager.save(StructRoundTripTests.mary)
        #expect(try await states.next()?.map(\.id) == ["jane", "mary"])
        try await manager.delete(StructRoundTripTests.jane)
        #expect(try await states.next()?.map(\.id) == ["mary"])
    }

    @Test("give a slow reader the newest state alone")
    func coalesced() async throws {
        var states = manager.observe { try $0.count(Writer.self) }.makeAsyncIterator()
        #expect(try await states.next() == 0)
        for number in 1...5 { try await manager.save(Writer(id: "\(number)", name: "")) }
        #expect(try await states.next() == 5)
    }

    @Test("report models within the models")
    func nested() async throws {
        try await manager.save(StructRoundTripTests.shop)
        let shop = StructRoundTripTests.shop
        var states = manager.observe(Shop.self, id: shop.id).makeAsyncIterator()
        #expect(try await states.next() == .some(shop))
        try await manager.save(Writer(id: "jane", name: "J. Austen"))
        let changed = try await states.next()
        #expect(changed??.volumes.first?.writer?.name == "J. Austen")
    }

    @Test("leave out saves that change nothing of theirs")
    func filtered() async throws {
        var states = manager.observe(Coin.self, where: \.worth > 1).makeAsyncIterator()
        #expect(try await states.next()?.isEmpty == true)
        try await manager.save(Writer(id: "x", name: "X"))
        try await manager.save(Coin(code: "EUR", worth: 1))
        try await manager.save(Coin(code: "GBP", worth: 1.2))
        #expect(try await states.next()?.map(\.code) == ["GBP"])
    }

    @Test("end with their task")
    func cancelled() async throws {
        let manager = manager
        let task = Task {
            var count = 0
            for try await _ in manager.observe(Coin.self) { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value <= 1)
    }

    @Test("throw what fetching throws")
    func unknown() async throws {
        var states = manager.observe(Everything.self).makeAsyncIterator()
        await #expect(throws: PersistenceError.self) { _ = try await states.next() }
    }

    @Test("come as differences, too, if asked")
    func differences() async throws {
        try await manager.save([Coin(code: "EUR", worth: 1), Coin(code: "GBP", worth: 1.2)])
        var changes = manager.observe(Coin.self, sortedBy: .ascending(\.worth)).differences().makeAsyncIterator()
        #expect(try await changes.next()?.insertions.map(\.index) == [0, 1])
        try await manager.save([Coin(code: "EUR", worth: 2), Coin(code: "USD", worth: 0.9)])
        let change = try #require(try await changes.next())
        #expect(change.models.map(\.code) == ["USD", "GBP", "EUR"])
        #expect(change.insertions.map(\.model.code) == ["USD"])
        #expect(change.updates.map(\.model.code) == ["EUR"])
        #expect(change.moves.count == 1)
        #expect(change.removals.isEmpty)
    }
}

@Suite("The difference between two lists")
struct ListDifferenceTests {
    private func list(_ text: String) -> [Coin] {
        text.map { Coin(code: $0.lowercased(), worth: $0.isUppercase ? 2 : 1) }
    }

    @Test("is empty where nothing differs")
    func same() { #expect(ListDifference(from: list("abc"), to: list("abc")).isEmpty) }

    @Test("names removals by former places, the rest by new ones")
    func all() {
        let difference = ListDifference(from: list("abcd"), to: list("daCx"))
        #expect(difference.removals == [1])
        #expect(difference.insertions.map(\.index) == [3])
        #expect(difference.updates.map(\.index) == [2])
        #expect(difference.moves == [.init(from: 3, to: 0)])
    }

    @Test("moves the fewest elements possible")
    func fewestMoves() {
        #expect(ListDifference(from: list("abcdef"), to: list("fabcde")).moves == [.init(from: 5, to: 0)])
        #expect(ListDifference(from: list("abcdef"), to: list("bcdefa")).moves == [.init(from: 0, to: 5)])
        #expect(ListDifference(from: list("abcdef"), to: list("defabc")).moves.count == 3)
        #expect(ListDifference(from: list("xabycd"), to: list("dabcz")).moves == [.init(from: 5, to: 0)])
    }

    @Test("is found at once for a long list that is turned around", .timeLimit(.minutes(15)))
    func turnedAround() {
        let coins = (0..<50_000).map { Coin(code: "\($0)", worth: 1) }
        #expect(ListDifference(from: coins, to: coins.reversed()).moves.count == coins.count - 1)
        let sections = SectionedList(coins) { $0.code }
        #expect(
            SectionedList(coins.reversed()) { $0.code }.changes(from: sections).insertedSections.count == coins.count
                - 1)
        let changes = SectionedList(Array(coins.reversed())).changes(from: SectionedList(coins))
        #expect(changes.moves.count == coins.count - 1)
    }
}
