import Pippin
import Testing

@Suite("Blocks that read and write")
struct AccessTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }
    struct Change: Error {}

    init() throws { counter = try Counter(Shop.self, Coin.self) }

    @Test("save all of what they change")
    func saving() async throws {
        let count = try await manager.write { access in
            try access.save(StructRoundTripTests.shop)
            try access.save([Coin(code: "EUR", worth: 1)])
            return try access.fetch(Coin.self).count
        }
        #expect(count == 1)
        #expect(try await manager.fetch(Shop.self) == [StructRoundTripTests.shop])
    }

    @Test("save nothing where they throw")
    func throwing() async throws {
        await #expect(throws: Change.self) {
            try await manager.write { access in
                try access.save(Coin(code: "EUR", worth: 1))
                throw Change()
            }
        }
        #expect(try counter.number("SELECT count(*) FROM ZCOIN") == 0)
    }

    @Test("wait where a program has no concurrency")
    func waiting() throws {
        try manager.writeAndWait { access in
            try access.save(Coin(code: "EUR", worth: 1))
            try access.delete(Coin(code: "GBP", worth: 1))
        }
        let worth = try manager.readAndWait { try $0.find(Coin.self, id: "EUR")?.worth }
        #expect(worth == 1)
    }

    @Test("may be put together as requests")
    func requests() async throws {
        try await manager.save([
            Coin(code: "EUR", worth: 1), Coin(code: "GBP", worth: 1.2), Coin(code: "USD", worth: 0.9),
        ])
        let request = ModelRequest(Coin.self).filter(\.worth < 1.1).filter(#Predicate { $0.worth > 0.5 })
        let sorted = request.sorted(by: .descending(\.worth))
        #expect(try await manager.fetch(sorted).map(\.code) == ["EUR", "USD"])
        #expect(try await manager.fetch(sorted.limit(1).offset(1)).map(\.code) == ["USD"])
    }
}

@Suite("Pages")
struct PageTests {
    @Test("follow one another without gaps, whatever comes and goes")
    func pages() async throws {
        let counter = try Counter(Opinion.self)
        let manager = counter.manager
        try await manager.save(Volume(id: 1, title: "Emma"))
        let opinions = (0..<9).map {
            Opinion(id: "\($0)", volume: Reference(id: 1), stars: $0 % 3, text: $0 % 2 == 0 ? nil : "t\($0)")
        }
        try await manager.save(opinions)
        let order: Order<Opinion> = [.descending(\.text), .ascending(\.stars)]
        let all = try await manager.fetch(Opinion.self, sortedBy: [order, .ascending(\.id)])
        var found: [Opinion] = []
        var page = try await manager.fetch(Opinion.self, sortedBy: order, limit: 2)
        while let last = page.last {
            found += page
            // What was seen already goes, which would shift an offset.
            try await manager.delete(page[0])
            page = try await manager.fetch(Opinion.self, sortedBy: order, after: last, limit: 2)
        }
        #expect(found == all)
    }
}
