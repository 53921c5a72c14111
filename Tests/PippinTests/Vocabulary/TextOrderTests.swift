import Foundation
import Pippin
import TestSupport
import Testing

private struct Part: CoreModel, Equatable {
    let id: String
    var name: String?
}

private struct Box: CoreModel {
    let id: Int
    var part: Part
}

@Suite("An order of texts")
struct TextOrderTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() async throws {
        counter = try Counter(Part.self, Box.self)
        let names = ["part 10", "Part 2", "zoe", "Anna", "Zoe", nil]
        try await manager.save(names.enumerated().map { Part(id: "\($0)", name: $1) })
    }

    private func names(_ order: Order<Part>) async throws -> [String?] {
        try await manager.fetch(Part.self, sortedBy: order).map(\.name)
    }

    @Test("is by code points unless it says otherwise")
    func lexical() async throws {
        let wanted = [nil, "Anna", "Part 2", "Zoe", "part 10", "zoe"]
        #expect(try await names(.ascending(\.name)) == wanted)
        #expect(try await names(.ascending(\.name, .lexical)) == wanted)
    }

    @Test("may disregard case, and sort numbers by their value")
    func others() async throws {
        #expect(
            try await names([.ascending(\.name, .caseInsensitive), .ascending(\.id)]) == [
                nil, "Anna", "part 10", "Part 2", "zoe", "Zoe",
            ])
        #expect(
            try await names([.descending(\.name, .caseInsensitive), .descending(\.id)]) == [
                "Zoe", "zoe", "Part 2", "part 10", "Anna", nil,
            ])
        let standard = try await names(.ascending(\.name, .localizedStandard)).compactMap(\.self)
        #expect(standard.prefix(3) == ["Anna", "Part 2", "part 10"])
    }

    @Test("counts in other models' texts, with limits, in blocks with changes of their own, and in live queries")
    func everywhere() async throws {
        let order: Order<Part> = [.ascending(\.name, .caseInsensitive), .ascending(\.id)]
        let first = try await manager.fetch(Part.self, where: \.name != nil, sortedBy: order, limit: 2)
        #expect(first.map(\.name) == ["Anna", "part 10"])
        try await manager.save([
            Box(id: 1, part: Part(id: "4", name: "Zoe")), Box(id: 2, part: Part(id: "0", name: "part 10")),
        ])
        let boxes = try await manager.fetch(Box.self, sortedBy: .ascending(\.part.name, .caseInsensitive))
        #expect(boxes.map(\.id) == [2, 1])
        let changed = try await manager.write { store in
            try store.save(Part(id: "9", name: "ANNE"))
            return try store.fetch(Part.self, where: \.name != nil, sortedBy: order).map(\.name)
        }
        #expect(changed == ["Anna", "ANNE", "part 10", "Part 2", "zoe", "Zoe"])
        var states = manager.observe(Part.self, where: \.name != nil, sortedBy: order).makeAsyncIterator()
        #expect(try await states.next()?.map(\.name) == changed)
        try await manager.save(Part(id: "8", name: "anna"))
        #expect(try await states.next()?.map(\.name) == ["Anna", "anna", "ANNE", "part 10", "Part 2", "zoe", "Zoe"])
    }

    @Test("is an error that says so where pages cannot be taken by it")
    func pages() async throws {
        let order = Order<Part>.ascending(\.name, .caseInsensitive)
        let first = try await manager.fetch(Part.self, sortedBy: order, limit: 2)
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.fetch(Part.self, sortedBy: order, after: first.last, limit: 2)
        }
        #expect(error?.code == .notComparable)
        #expect(error?.entity == "Part")
        #expect(error?.description.contains("caseInsensitive order") == true)
    }
}
