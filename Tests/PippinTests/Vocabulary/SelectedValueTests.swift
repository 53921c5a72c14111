import Foundation
import Pippin
import Testing

@Suite("Values that are fetched without their models")
struct SelectedValueTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() async throws {
        counter = try Counter(Shop.self, Opinion.self, Everything.self)
        try await manager.save(StructRoundTripTests.shop)
        try await manager.save(Volume(id: 9, title: "Untitled", price: 2.5, binding: .paper))
    }

    @Test("One property gives a list of its values, in order")
    func single() async throws {
        #expect(
            try await manager.values(Volume.self, \.title, sortedBy: .ascending(\.id))
                == ["Emma", "Persuasion", "Frankenstein", "Untitled"])
        #expect(
            try await manager.values(Volume.self, \.price, where: \.id < 3, sortedBy: .descending(\.id)) == [9.5, nil])
    }

    @Test("Several give tuples, also of properties of the models that they lead to, and of structs in them")
    func tuples() async throws {
        let volumes = try await manager.values(
            Volume.self, \.title, \.binding, \.writer?.name, \.writer?.id, sortedBy: .ascending(\.title))
        #expect(volumes.map(\.0) == ["Emma", "Frankenstein", "Persuasion", "Untitled"])
        #expect(volumes.map(\.1) == [.paper, .cloth, .cloth, .paper])
        #expect(volumes.map(\.2) == ["Jane Austen", "Mary Shelley", "Jane Austen", nil])
        let writers = try await manager.fetch(Volume.self, sortedBy: .ascending(\.title)).map(\.writer?.id)
        #expect(volumes.map(\.3) == writers)
        let shops = try await manager.values(Shop.self, \.id, \.address.street, \.address.floor)
        #expect(shops.count == 1 && shops.first?.0 == StructRoundTripTests.shop.id)
        #expect(shops.first?.1 == "Milsom Street" && shops.first?.2 == nil)
    }

    @Test("A limit and an offset count models, and the identifier completes the order")
    func portions() async throws {
        let bindings = Order<Volume>.ascending(\.binding)
        #expect(try await manager.values(Volume.self, \.id, sortedBy: bindings, limit: 3) == [2, 3, 1])
        #expect(try await manager.values(Volume.self, \.id, sortedBy: bindings, limit: 2, offset: 2) == [1, 9])
        #expect(try await manager.values(Volume.self, \.id, limit: 0) == [])
        let request = ModelRequest(Volume.self).filter(\.binding == .paper).sorted(by: .descending(\.title)).limit(1)
        #expect(try await manager.values(request, \.title) == ["Untitled"])
    }

    @Test(
        "Values of every kind come back as in the models, from the store and in a block that has changed others",
        arguments: [Everything.full, .bare], [false, true])
    func kinds(_ value: Everything, inBlock: Bool) async throws {
        try await manager.save(value)
        let isEqual = try await manager.write { store in
            if inBlock { try store.save(Volume(id: 12, title: "Other")) }
            let first = try store.values(Everything.self, \.flag, \.tiny, \.long, \.huge, \.ratio, \.number)
            let second = try store.values(Everything.self, \.when, \.link, \.amount, \.bytes, \.size, \.id)
            let third = try store.values(
                Everything.self, \.maybeFlag, \.maybeShort, \.maybeWhen, \.maybeLink, \.maybeSize, \.maybeUUID)
            let last = try store.values(Everything.self, \.maybeRatio)
            return first.count == 1
                && first[0] == (value.flag, value.tiny, value.long, value.huge, value.ratio, value.number)
                && second[0] == (value.when, value.link, value.amount, value.bytes, value.size, value.id)
                && third[0] == (
                    value.maybeFlag, value.maybeShort, value.maybeWhen, value.maybeLink, value.maybeSize,
                    value.maybeUUID
                ) && last == [value.maybeRatio]
        }
        #expect(isEqual)
    }

    @Test("A reference is the identifier that it holds")
    func references() async throws {
        try await manager.save(Opinion(id: "a", volume: Reference(id: 2), stars: 4))
        let opinions = try await manager.values(Opinion.self, \.volume, \.stars)
        #expect(opinions.map(\.0.id) == [2] && opinions.map(\.1) == [4])
    }

    @Test("In a block, its own changes count, those of models that the values or the order come from among them")
    func changed() async throws {
        let found = try await manager.write { store in
            try store.save(Volume(id: 10, title: "Ulysses"))
            try store.update(Volume.self, where: \.id == 9) { $0.set(\.title, to: "Titled") }
            try store.update(Writer.self, where: \.name == "Jane Austen") { $0.set(\.name, to: "Zelda") }
            return try store.values(
                Volume.self, \.title, \.writer?.name, where: \.id != 3,
                sortedBy: [.descending(\.writer?.name), .ascending(\.title)])
        }
        #expect(found.map(\.0) == ["Emma", "Persuasion", "Titled", "Ulysses"])
        #expect(found.map(\.1) == ["Zelda", "Zelda", nil, nil])
    }

    @Test("What is not a single value is refused, and the error says what is")
    func refused() async throws {
        for path: @Sendable () async throws -> Int in [
            { try await manager.values(Shop.self, \.address).count },
            { try await manager.values(Shop.self, \.brand.count).count },
        ] {
            let error = await #expect(throws: PersistenceError.self) { try await path() }
            #expect(error?.code == .unknownProperty && error?.description.contains("Shop") == true)
        }
    }

    @Test("They are the answers of an observation, too")
    func observed() async throws {
        var updates = manager.observe {
            try $0.values(Volume.self, \.title, where: \.binding == .paper, sortedBy: .ascending(\.title))
        }
        .makeAsyncIterator()
        #expect(try await updates.next() == ["Emma", "Untitled"])
        try await manager.save(Volume(id: 11, title: "Middlemarch", binding: .paper))
        #expect(try await updates.next() == ["Emma", "Middlemarch", "Untitled"])
    }
}
