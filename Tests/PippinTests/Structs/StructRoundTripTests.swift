import PippinRecords
import Testing

@Suite("Structs without conversion code")
struct StructRoundTripTests {
    static let jane = Writer(id: "jane", name: "Jane Austen")
    static let mary = Writer(id: "mary", name: "Mary Shelley")

    static let shop = Shop(
        id: UUID(), brand: "Corner", address: Shop.Address(street: "Milsom Street", floor: nil),
        volumes: [
            Volume(id: 2, title: "Persuasion", price: 9.5, writer: jane),
            Volume(id: 1, title: "Emma", price: nil, binding: .paper, writer: jane),
            Volume(id: 3, title: "Frankenstein", price: 12, writer: mary),
        ], suppliers: [jane, mary])

    @Test("come back as they went in", arguments: [Everything.full, .bare])
    func everything(_ value: Everything) async throws {
        let counter = try Counter(Everything.self)
        try await counter.manager.save(value)
        #expect(try await counter.manager.find(Everything.self, id: value.id) == value)
    }

    @Test("come back as they went in through a context's objects, too", arguments: [Everything.full, .bare])
    func throughObjects(_ value: Everything) async throws {
        let counter = try Counter(Everything.self)
        try await counter.manager.save(value)
        let context = counter.manager.newWorkerContext()
        let found = try await counter.manager.read(in: context) { try $0.find(Everything.self, id: value.id) }
        #expect(found == value)
    }

    @Test("bring the structs in them, to one, ordered and as a set")
    func tree() async throws {
        let counter = try Counter(Shop.self)
        try await counter.manager.save(Self.shop)
        #expect(try await counter.manager.fetch(Shop.self) == [Self.shop])
        let context = counter.manager.newWorkerContext()
        #expect(try await counter.manager.read(in: context) { try $0.fetch(Shop.self) } == [Self.shop])
        #expect(try counter.number("SELECT count(*) FROM ZWRITER") == 2)
        #expect(try counter.strings("SELECT ZSTREET FROM ZSHOP") == ["Milsom Street"])
    }

    @Test("are changed where they are known, and inserted where not")
    func save() async throws {
        let counter = try Counter(Shop.self)
        try await counter.manager.save(Self.shop)
        var changed = Self.shop
        changed.volumes[1].title = "Emma, again"
        changed.volumes.append(Volume(id: 4, title: "The Last Man", writer: Self.mary))
        try await counter.manager.save(changed)
        #expect(try await counter.manager.fetch(Shop.self) == [changed])
        #expect(try counter.number("SELECT count(*) FROM ZVOLUME") == 4)
    }

    @Test("are not written again if they did not change")
    func unchanged() async throws {
        let counter = try Counter(Shop.self, Everything.self)
        for _ in 1...2 {
            try await counter.manager.save(Self.shop)
            try await counter.manager.save(Everything.full)
        }
        #expect(try counter.number("SELECT max(Z_OPT) FROM ZSHOP") == 1)
        #expect(try counter.number("SELECT max(Z_OPT) FROM ZVOLUME") == 1)
        #expect(try counter.number("SELECT max(Z_OPT) FROM ZEVERYTHING") == 1)
    }

    @Test("are deleted when they leave their owner, and when it goes")
    func owned() async throws {
        let counter = try Counter(Shop.self)
        try await counter.manager.save(Self.shop)
        var smaller = Self.shop
        smaller.volumes.removeFirst()
        smaller.suppliers = []
        try await counter.manager.save(smaller)
        #expect(try counter.number("SELECT count(*) FROM ZVOLUME") == 2)
        #expect(try counter.number("SELECT count(*) FROM ZWRITER") == 2, "shared ones stay")
        #expect(try await counter.manager.delete(smaller))
        #expect(try counter.number("SELECT count(*) FROM ZVOLUME") == 0)
        #expect(try counter.number("SELECT count(*) FROM ZWRITER") == 2)
    }

    @Test("stay if they move to another owner in one save")
    func moving() async throws {
        let counter = try Counter(Shop.self)
        var other = Shop(id: UUID(), brand: "Market", address: Shop.Address(street: "High Street", floor: 2))
        var shop = Self.shop
        try await counter.manager.save([shop, other])
        other.volumes = [shop.volumes.removeFirst()]
        try await counter.manager.save([shop, other])
        #expect(try await counter.manager.find(Shop.self, id: other.id) == other)
        #expect(try await counter.manager.find(Shop.self, id: shop.id) == shop)
    }

    @Test("refer back by identifier")
    func references() async throws {
        let counter = try Counter(Shop.self, Opinion.self)
        try await counter.manager.save(Self.shop)
        let emma = Self.shop.volumes[1]
        let opinion = Opinion(id: "o", volume: Reference(emma), stars: 4)
        try await counter.manager.save(opinion)
        #expect(try await counter.manager.fetch(Opinion.self, where: \.volume == Reference(emma)) == [opinion])
        #expect(try await counter.manager.fetch(Opinion.self, where: \.volume.id == 2).isEmpty)
    }

    @Test("are refused if they refer to what is not there, and nothing is saved")
    func missingReference() async throws {
        let counter = try Counter(Opinion.self)
        let stray = Opinion(id: "o", volume: Reference(id: 17), stars: 1)
        await #expect(throws: PersistenceError.missingReference(entity: "Opinion", key: "volume", uid: "17")) {
            try await counter.manager.save(stray)
        }
        #expect(try counter.number("SELECT count(*) FROM ZOPINION") == 0)
    }

    @Test("may name their identifier and their keys as they like")
    func otherNames() async throws {
        let counter = try Counter(Coin.self)
        let coins = [Coin(code: "EUR", worth: 1), Coin(code: "GBP", worth: 1.2)]
        try await counter.manager.save(coins)
        try await counter.manager.save(coins)
        #expect(try await counter.manager.fetch(Coin.self, where: \.worth > 1.1) == [coins[1]])
        #expect(try await counter.manager.find(Coin.self, ids: ["GBP", "XXX", "EUR"]) == [coins[1], coins[0]])
        #expect(try counter.strings("SELECT ZCODE FROM ZCOIN ORDER BY ZWORTH") == ["EUR", "GBP"])
    }

    @Test("are all there is after they have replaced all others")
    func overwriting() async throws {
        let counter = try Counter(Writer.self)
        try await counter.manager.save([Self.jane, Self.mary])
        try await counter.manager.replaceAll(with: [Self.mary])
        #expect(try await counter.manager.fetch(Writer.self) == [Self.mary])
    }

    @Test("are never doubled by tasks that save the same ones at once")
    func concurrentSaves() async throws {
        let counter = try Counter(Writer.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<20 {
                group.addTask {
                    try await counter.manager.save((0..<10).map { Writer(id: "\($0)", name: "\(round)") })
                }
            }
            try await group.waitForAll()
        }
        #expect(try counter.number("SELECT count(*) FROM ZWRITER") == 10)
    }

    @Test("are refused by name if the manager was not made for their type")
    func unknown() async throws {
        let counter = try Counter(Writer.self)
        await #expect(throws: PersistenceError.unknownModel("Coin", known: ["Writer"])) {
            try await counter.manager.save(Coin(code: "EUR", worth: 1))
        }
    }
}
