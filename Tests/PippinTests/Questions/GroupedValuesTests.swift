import Foundation
import Pippin
import TestSupport
import Testing

private struct Scribe: CoreModel {
    let id: Int
    var name: String
}

private struct Title: CoreModel {
    let id: Int
    var year: Int?
    var price: Double
    var pages: Int
    var cost: Decimal?
    var writer: Scribe?
}

@Suite("Several values of groups")
struct GroupedValuesTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() async throws {
        counter = try Counter(Title.self, Scribe.self)
        var random = SplitMix(state: 5)
        let writers = (0..<4).map { Scribe(id: $0, name: "Scribe \($0)") }
        try await manager.save(
            (0..<120).map { id in
                Title(
                    id: id,
                    year: Int.random(in: 0..<5, using: &random) == 0
                        ? nil : 1900 + Int.random(in: 0..<9, using: &random),
                    price: Double(Int.random(in: 0..<400, using: &random)) / 4,
                    pages: Int.random(in: 1..<900, using: &random),
                    cost: Bool.random(using: &random) ? Decimal(Int.random(in: 0..<100, using: &random)) / 4 : nil,
                    writer: id % 5 == 0 ? nil : writers[id % 4])
            })
    }

    @Test("The values of each group are those that Swift computes of the models, in the groups' order")
    func values() async throws {
        let titles = try await manager.fetch(Title.self)
        let rows = try await manager.values(
            Title.self, by: \.writer?.name, .count, .sum(\.price), .sum(\.pages), .max(\.year), .min(\.year),
            .average(\.pages), .sum(\.cost))
        #expect(rows.map(\.0) == [nil, "Scribe 0", "Scribe 1", "Scribe 2", "Scribe 3"])
        for (name, count, price, pages, latest, earliest, average, cost) in rows {
            let group = titles.filter { $0.writer?.name == name }
            #expect(count == group.count)
            #expect(price == group.reduce(0) { $0 + $1.price })
            #expect(pages == group.reduce(0) { $0 + $1.pages })
            #expect(latest == group.compactMap(\.year).max())
            #expect(earliest == group.compactMap(\.year).min())
            #expect(abs((average ?? 0) - Double(pages) / Double(count)) < 1e-9)
            #expect(cost == group.compactMap(\.cost).reduce(0, +))
        }
    }

    @Test("One statement computes all, and a condition on the groups keeps some of them")
    func conditions() async throws {
        let all = try await manager.values(Title.self, by: \.year, .count, .sum(\.price))
        let some = try await manager.values(
            Title.self, by: \.year, .count, having: .count > 9 && .sum(\.price) >= 500.0 || .count == 1)
        let wanted = all.filter { $0.1 > 9 && $0.2 >= 500 || $0.1 == 1 }
        #expect(some.map(\.0) == wanted.map(\.0) && some.map(\.1) == wanted.map(\.1))
        #expect(!some.isEmpty && some.count < all.count)
        let none = try await manager.values(Title.self, by: \.year, .count, where: \.pages < 0)
        #expect(none.isEmpty)
    }

    @Test("A group without values has no least one, and a sum of 0")
    func empty() async throws {
        let rows = try await manager.values(Title.self, by: \.year, .max(\.cost), .sum(\.cost), where: \.cost == nil)
        #expect(rows.allSatisfy { $0.1 == nil && $0.2 == 0 })
        #expect(!rows.isEmpty)
    }

    @Test("A store in memory computes the same")
    func memory() async throws {
        let memory = PersistenceManager(models: Title.self, Scribe.self, store: .memory)
        try await memory.save(try await manager.fetch(Title.self))
        let rows = try await manager.values(Title.self, by: \.writer?.name, .count, .sum(\.price), .max(\.pages))
        let others = try await memory.values(Title.self, by: \.writer?.name, .count, .sum(\.price), .max(\.pages))
        #expect(rows.count == others.count)
        for (row, other) in zip(rows, others) {
            #expect(row.0 == other.0 && row.1 == other.1 && row.2 == other.2 && row.3 == other.3)
        }
    }
}
