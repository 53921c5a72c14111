import Pippin
import Testing

private struct Step: CoreModel, Equatable {
    let id: Int
    var floor: Int
}

/// A model whose order has ties, and values that are missing.
private struct Reading: CoreModel, Equatable {
    let id: Int
    var place: String?
    var degrees: Double?
    var spot: Spot?

    struct Spot: Codable, Sendable, Equatable {
        var shelf: Shelf
        var weight: Decimal?
    }

    struct Shelf: Codable, Sendable, Equatable {
        var level: Int
    }
}

@Suite("The pages of a fetch as a sequence")
struct PagesTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() async throws {
        counter = try Counter(Step.self)
        try await manager.save((0..<10).map { Step(id: $0, floor: $0 / 4) })
    }

    private func ids(
        where filter: Filter<Step> = .all, sortedBy order: Order<Step> = [], after last: Step? = nil, limit: Int
    ) async throws -> [[Int]] {
        var ids: [[Int]] = []
        for try await page in manager.pages(Step.self, where: filter, sortedBy: order, after: last, limit: limit) {
            ids.append(page.map(\.id))
        }
        return ids
    }

    @Test("have all models in order, and no page is empty")
    func all() async throws {
        #expect(try await ids(limit: 4) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])
        #expect(try await ids(limit: 5) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]])
        #expect(try await ids(limit: 10) == [Array(0..<10)])
        #expect(try await ids(limit: 1_000) == [Array(0..<10)])
        #expect(try await ids(limit: 0) == (0..<10).map { [$0] })
        #expect(try await ids(sortedBy: .descending(\.floor), limit: 4) == [[8, 9, 4, 5], [6, 7, 0, 1], [2, 3]])
        #expect(try await ids(where: \.floor == 1, limit: 3) == [[4, 5, 6], [7]])
        #expect(try await ids(where: \.floor == 7, limit: 3) == [])
        #expect(try await ids(after: Step(id: 6, floor: 1), limit: 2) == [[7, 8], [9]])
    }

    @Test(
        "have each model once, in order, with values that are missing and values that are equal",
        arguments: [
            .ascending(\.place), .descending(\.place), .ascending(\.id), .descending(\.id),
            [.ascending(\.place), .descending(\.degrees)], [.descending(\.place), .ascending(\.degrees)],
            [.descending(\.id), .ascending(\.place)], .ascending(\.spot?.weight), .descending(\.spot?.weight),
            [.descending(\.spot?.shelf.level), .ascending(\.place)],
        ] as [Order<Reading>])
    fileprivate func missing(order: Order<Reading>) async throws {
        let readings = try Counter(Reading.self)
        let manager = readings.manager
        let places = ["a", nil, "b", "b", nil, "a", "c"]
        try await manager.save(
            (0..<50).map { number in
                Reading(
                    id: number, place: places[number % 7], degrees: number % 3 == 0 ? nil : Double(number * 7 % 11),
                    spot: number % 4 == 0
                        ? nil
                        : Reading.Spot(
                            shelf: Reading.Shelf(level: number % 3),
                            weight: number % 5 == 0 ? nil : Decimal(number % 6) / 4))
            })
        let identified: Order<Reading> = [order, .ascending(\.id)]
        let all = try await manager.fetch(Reading.self, sortedBy: identified)
        #expect(all.count == 50)
        for limit in [1, 3, 7, 60] {
            var paged: [Reading] = []
            for try await page in manager.pages(Reading.self, sortedBy: order, limit: limit) { paged += page }
            #expect(paged == all)
        }
        for (number, last) in all.enumerated() {
            let rest = ModelRequest(Reading.self).filter(\.id >= 10).sorted(by: order).after(last).limit(4).offset(1)
            let expected = all[(number + 1)...].filter { $0.id >= 10 }.dropFirst().prefix(4)
            #expect(try await manager.fetch(rest) == Array(expected))
            #expect(try await manager.values(rest, \.id, \.place).map(\.0) == expected.map(\.id))
        }
    }

    @Test("are found by searching an index of the first property, not by reading what comes before")
    func searched() async throws {
        let last = Step(id: 6, floor: 1)
        let byFloor = ModelRequest(Step.self).sorted(by: .ascending(\.floor)).after(last).limit(2)
        #expect(
            try await byFloor.sql(in: manager) == """
                SELECT t0.Z_PK, t0.Z_OPT, t0.ZID, t0.ZFLOOR FROM ZSTEP t0 \
                WHERE t0.ZFLOOR >= ? AND (t0.ZFLOOR > ? OR (t0.ZFLOOR = ? AND t0.ZID > ?)) \
                ORDER BY t0.ZFLOOR, t0.ZID LIMIT ?
                """)
        let byID = ModelRequest(Step.self).sorted(by: .ascending(\.id)).after(last).limit(2)
        #expect(
            try await byID.sql(in: manager) == """
                SELECT t0.Z_PK, t0.Z_OPT, t0.ZID, t0.ZFLOOR FROM ZSTEP t0 WHERE t0.ZID > ? ORDER BY t0.ZID LIMIT ?
                """)
    }

    @Test("have what is saved between them, and go on after a model that is gone")
    func savedMeanwhile() async throws {
        var pages = manager.pages(Step.self, limit: 4).makeAsyncIterator()
        #expect(try await pages.next()?.map(\.id) == [0, 1, 2, 3])
        try await manager.delete(Step.self, ids: [3, 4])
        try await manager.save(Step(id: 20, floor: 5))
        #expect(try await pages.next()?.map(\.id) == [5, 6, 7, 8])
        #expect(try await pages.next()?.map(\.id) == [9, 20])
        #expect(try await pages.next() == nil)
        #expect(try await pages.next() == nil)
    }

    @Test("can be taken from the beginning again")
    func again() async throws {
        let pages = manager.pages(Step.self, limit: 6)
        for _ in 0..<2 {
            var count = 0
            for try await page in pages { count += page.count }
            #expect(count == 10)
        }
    }

    @Test("refuse an order in which no page can begin after a model, before the first page")
    func refused() async throws {
        struct Word: CoreModel {
            let id: Int
            var text: String
        }
        let words = try Counter(Word.self)
        var pages = words.manager.pages(Word.self, sortedBy: .ascending(\.text, .caseInsensitive)).makeAsyncIterator()
        let error = await #expect(throws: PersistenceError.self) { try await pages.next() }
        #expect(error?.code == .notComparable)
    }
}
