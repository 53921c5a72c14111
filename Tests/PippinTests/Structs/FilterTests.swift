import Testing

@testable import Pippin

@Suite("Filters of structs")
struct FilterTests {
    let counter: Counter

    init() async throws {
        counter = try Counter(Shop.self, Opinion.self)
        try await counter.manager.save(StructRoundTripTests.shop)
        let emma = StructRoundTripTests.shop.volumes[1]
        try await counter.manager.save([
            Opinion(id: "1", volume: Reference(emma), stars: 5, text: "Ágreeable"),
            Opinion(id: "2", volume: Reference(emma), stars: 2, text: "Long"),
            Opinion(id: "3", volume: Reference(id: 3), stars: 4),
        ])
    }

    private func titles(_ filter: Filter<Volume>) throws -> [String] {
        try counter.manager.readAndWait {
            try $0.fetch(Volume.self, where: filter, sortedBy: .ascending(\.title)).map(\.title)
        }
    }

    private func opinions(_ filter: Filter<Opinion>) throws -> [String] {
        try counter.manager.readAndWait {
            try $0.fetch(Opinion.self, where: filter, sortedBy: .ascending(\.id)).map(\.id)
        }
    }

    @Test("compare by key path")
    func operators() throws {
        #expect(try opinions(\.stars > 2) == ["1", "3"])
        #expect(try opinions(\.stars >= 2 && \.stars < 5) == ["2", "3"])
        #expect(try opinions(\.stars == 5 || \.stars <= 2) == ["1", "2"])
        #expect(try opinions(!(\.stars != 5)) == ["1"])
        #expect(try opinions(\.text == nil) == ["3"])
        #expect(try opinions(\.text != nil) == ["1", "2"])
        #expect(try titles(\.price > 10) == ["Frankenstein"])
    }

    @Test("compare enumerations by their raw values, and reach into other models")
    func reaching() async throws {
        #expect(try titles(\.binding == .paper) == ["Emma"])
        #expect(try titles(\.writer?.name == "Jane Austen") == ["Emma", "Persuasion"])
        #expect(try opinions(\.volume == Reference(id: 3)) == ["3"])
        #expect(try opinions(\.volume.id == 3) == ["3"])
        let shops = try await counter.manager.fetch(Shop.self, where: \.address.street == "Milsom Street")
        #expect(shops.map(\.brand) == ["Corner"])
    }

    @Test("look into texts, at lists and ranges")
    func functions() throws {
        #expect(try opinions(.contains(\.text, "AGREE", [.caseInsensitive, .diacriticInsensitive])) == ["1"])
        #expect(try opinions(.begins(\.text, with: "Lo")) == ["2"])
        #expect(try opinions(.ends(\.text, with: "ble")) == ["1"])
        #expect(try opinions(.like(\.text, "L?n*")) == ["2"])
        #expect(try opinions(.matches(\.text, "L.*g")) == ["2"])
        #expect(try opinions(.in(\.stars, [2, 4])) == ["2", "3"])
        #expect(try opinions(.between(\.stars, 4...5)) == ["1", "3"])
    }

    @Test("may be Swift predicates or format strings, combined as you like")
    func otherForms() throws {
        let few = 4
        #expect(try opinions(.matching(#Predicate { $0.stars < few })) == ["2"])
        #expect(try opinions(.format("stars < %@", 4)) == ["2"])
        #expect(try opinions(.format("stars >= %@", 4) && .matching(#Predicate { $0.text != nil })) == ["1"])
    }

    @Test("order, and cut out a part")
    func order() async throws {
        let all = try await counter.manager.fetch(
            Opinion.self, sortedBy: [.descending(\.volume.id), .ascending(\.stars)], limit: 2, offset: 1)
        #expect(all.map(\.id) == ["2", "1"])
        #expect(try await counter.manager.fetch(Opinion.self, limit: 0).isEmpty)
        // Known at run time only.
        let chosen: [Order<Opinion>] = [.descending(\.volume.id), .ascending(\.stars)]
        #expect(try await counter.manager.fetch(Opinion.self, sortedBy: Order(chosen), limit: 2, offset: 1) == all)
    }

    @Test("refuse a computed property by name")
    func computed() async throws {
        await #expect {
            try await counter.manager.fetch(Writer.self, where: \.name.count > 3)
        } throws: { error in
            guard let error = error as? PersistenceError, error.code == .unknownProperty else { return false }
            return error.entity == "Writer" && error.known == ["id", "name"]
        }
    }

    @Test("refuse a Swift predicate that the store has no equivalent of, with the reason")
    func withoutEquivalent() async throws {
        let filter = Filter<Writer>.matching(#Predicate { $0.initial == "J" })
        await #expect {
            try await counter.manager.fetch(Writer.self, where: filter)
        } throws: { error in
            guard let error = error as? PersistenceError, error.code == .malformedFilter else { return false }
            return error.localizedDescription.contains("reads a computed property")
        }
    }
}

extension Writer {
    fileprivate var initial: String { String(name.prefix(1)) }
}
