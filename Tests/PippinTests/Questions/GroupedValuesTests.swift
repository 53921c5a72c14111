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

private struct Appointment: CoreModel {
    let id: Int
    var at: Date
    var reminder: Date?
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

    @Test("Groups are made by several properties, in the order of the first, then of the next")
    func severalKeys() async throws {
        let titles = try await manager.fetch(Title.self)
        let rows = try await manager.values(
            Title.self, by: .keys(.property(\.writer?.name), .property(\.year)), .count, .max(\.pages))
        let wanted = Set(titles.map { "\($0.writer?.name ?? "") \($0.year ?? 0)" })
        #expect(rows.count == wanted.count)
        for ((name, year), count, pages) in rows {
            let group = titles.filter { $0.writer?.name == name && $0.year == year }
            #expect(count == group.count)
            #expect(pages == group.map(\.pages).max())
        }
        var former: (name: String, year: Int) = ("", -1)
        for ((name, year), _, _) in rows {
            let next: (name: String, year: Int) = (name ?? "", year ?? 0)
            #expect(former < next)
            former = next
        }
    }

    @Test("Parts of dates make groups, by the calendar that is given, in their order")
    func partsOfDates() async throws {
        let seconds: [Double] = [0, 1_728_000, 3_456_000, 3_456_001, -3_600]
        let dates = seconds.map { Date(timeIntervalSince1970: $0) }
        let other = try Counter(Appointment.self)
        try await other.manager.save(
            dates.enumerated().map { Appointment(id: $0, at: $1, reminder: nil) })
        let months = try await other.manager.values(
            Appointment.self, by: .start(of: .month, of: \.at), .count, .sum(\.id))
        #expect(months.map { $0.1 } == [1, 2, 2])
        #expect(months.map { $0.2 } == [4, 1, 5])
        let starts: [Double] = [-2_678_400, 0, 2_678_400]
        #expect(months.map { $0.0.timeIntervalSince1970 } == starts)
        let years = try await other.manager.values(
            Appointment.self, by: .component(.year, of: \.at), .average(\.id), .min(\.at), having: .count > 1)
        #expect(years.map { $0.0 } == [1970])
        #expect(years.map { $0.1 } == [1.5])
        #expect(years.map { $0.2 } == [dates[0]])
        var tokyo = Calendar(identifier: .gregorian)
        tokyo.timeZone = try #require(TimeZone(identifier: "Asia/Tokyo"))
        let there = try await other.manager.values(Appointment.self, by: .component(.year, of: \.at, in: tokyo), .count)
        #expect(there.map { $0.0 } == [1970])
        #expect(there.map { $0.1 } == [5])
        let missing = try await other.manager.values(Appointment.self, by: .component(.day, of: \.reminder), .count)
        #expect(missing.map { $0.0 } == [nil])
        #expect(missing.map { $0.1 } == [5])
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
