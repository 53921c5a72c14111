import Foundation
import PippinPostgres
import PostgresServer
import TestSupport
import Testing

private struct Shopkeeper: CoreModel, Equatable {
    let id: Int
    var name: String
}

private struct Sale: CoreModel, Equatable {
    let id: Int
    var kind: String
    var keeper: Shopkeeper?
    var year: Int?
    var pieces: Int
    var price: Double
    var cost: Decimal?
    var placed: Date?
}

/// A question for groups: what makes them, which sales count, and which groups are shown.
private struct Question {
    enum Key: CaseIterable { case kind, keeper, year, month, weekday, kindAndYear, keeperAndMonth, three }
    enum Condition: CaseIterable { case all, pieces, kind, keeper, placed, none }
    enum Having: CaseIterable { case all, count, sum, either, not }

    let key: Key
    let condition: Condition
    let having: Having
    let limit: Int

    init(_ random: inout SplitMix) {
        key = Key.allCases.randomElement(using: &random) ?? .kind
        condition = Condition.allCases.randomElement(using: &random) ?? .all
        having = Having.allCases.randomElement(using: &random) ?? .all
        limit = Int.random(in: 0..<30, using: &random)
    }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    private static func month(_ date: Date?) -> Date? {
        date.flatMap { calendar.dateInterval(of: .month, for: $0)?.start }
    }

    private func takes(_ sale: Sale) -> Bool {
        switch condition {
        case .all: true
        case .pieces: sale.pieces > limit
        case .kind: sale.kind == "map" || sale.kind == "Zeitung"
        case .keeper: sale.keeper?.name == "B"
        case .placed: sale.placed == nil || sale.price >= Double(limit)
        case .none: sale.pieces < 0
        }
    }

    private var filter: Filter<Sale> {
        switch condition {
        case .all: .all
        case .pieces: \.pieces > limit
        case .kind: \.kind == "map" || \.kind == "Zeitung"
        case .keeper: \.keeper?.name == "B"
        case .placed: \.placed == nil || \.price >= Double(limit)
        case .none: \.pieces < 0
        }
    }

    private var groupCondition: GroupCondition<Sale>? {
        switch having {
        case .all: nil
        case .count: .count > limit
        case .sum: .sum(\.pieces) >= limit * 10 && .count > 1
        case .either: .count == 1 || .sum(\.price) < Double(limit * 10)
        case .not: !(.count > limit)
        }
    }

    private func shows(_ sales: [Sale]) -> Bool {
        let pieces = sales.reduce(0) { $0 + $1.pieces }
        let price = sales.reduce(0) { $0 + $1.price }
        return switch having {
        case .all: true
        case .count: sales.count > limit
        case .sum: pieces >= limit * 10 && sales.count > 1
        case .either: sales.count == 1 || price < Double(limit * 10)
        case .not: sales.count <= limit
        }
    }

    private func key(of sale: Sale) -> String {
        let month = Self.month(sale.placed)
        let weekday = sale.placed.map { Self.calendar.component(.weekday, from: $0) }
        return switch key {
        case .kind: "\(sale.kind)"
        case .keeper: "\(String(describing: sale.keeper?.name))"
        case .year: "\(String(describing: sale.year))"
        case .month: "\(String(describing: month))"
        case .weekday: "\(String(describing: weekday))"
        case .kindAndYear: "\((sale.kind, sale.year))"
        case .keeperAndMonth: "\((sale.keeper?.name, month))"
        case .three: "\((sale.kind, weekday, sale.keeper?.name))"
        }
    }

    /// What Swift computes, in no order.
    func expected(_ sales: [Sale]) -> Set<String> {
        let groups = Dictionary(grouping: sales.filter(takes)) { key(of: $0).decomposedStringWithCanonicalMapping }
        return Set(
            groups.values.filter(shows).map { group in
                let pieces = group.reduce(0) { $0 + $1.pieces }
                let costs = group.compactMap(\.cost)
                return line(
                    key(of: group[0]), group.count, pieces, group.reduce(0) { $0 + $1.price },
                    Double(pieces) / Double(group.count), group.compactMap(\.year).min(),
                    group.compactMap(\.placed).max(), costs.reduce(0, +))
            })
    }

    private func line(
        _ key: String, _ count: Int, _ pieces: Int, _ price: Double, _ average: Double?, _ year: Int?, _ latest: Date?,
        _ cost: Decimal
    ) -> String {
        let average = average.map { ($0 * 1e6).rounded() / 1e6 }
        let key = key.decomposedStringWithCanonicalMapping
        return
            "\(key): \(count) \(pieces) \(price) \(String(describing: average)) \(String(describing: year)) \(String(describing: latest)) \(cost)"
    }

    /// What a store answers.
    func answer(_ manager: PersistenceManager) async throws -> [String] {
        func ask<Key: Sendable>(_ key: GroupKey<Sale, Key>) async throws -> [String] {
            let pieces: GroupValue<Sale, Int> = .sum(\.pieces)
            let price: GroupValue<Sale, Double> = .sum(\.price)
            let average: GroupValue<Sale, Double?> = .average(\.pieces)
            let year: GroupValue<Sale, Int?> = .min(\.year)
            let latest: GroupValue<Sale, Date?> = .max(\.placed)
            let cost: GroupValue<Sale, Decimal> = .sum(\.cost)
            let rows = try await manager.values(
                Sale.self, by: key, .count, pieces, price, average, year, latest, cost, where: filter,
                having: groupCondition)
            var lines: [String] = []
            for (key, count, pieces, price, average, year, latest, cost) in rows {
                lines.append(line("\(key)", count, pieces, price, average, year, latest, cost))
            }
            return lines
        }
        return switch key {
        case .kind: try await ask(.property(\.kind))
        case .keeper: try await ask(.property(\.keeper?.name))
        case .year: try await ask(.property(\.year))
        case .month: try await ask(.start(of: .month, of: \.placed))
        case .weekday: try await ask(.component(.weekday, of: \.placed))
        case .kindAndYear: try await ask(.keys(.property(\.kind), .property(\.year)))
        case .keeperAndMonth: try await ask(.keys(.property(\.keeper?.name), .start(of: .month, of: \.placed)))
        case .three:
            try await ask(
                .keys(.property(\.kind), .component(.weekday, of: \.placed), .property(\.keeper?.name)))
        }
    }
}

@Suite("Groups in memory, in a file and on a server", .needsPostgres)
struct GroupTests {
    private static func sales(_ random: inout SplitMix) -> [Sale] {
        let names: [String] = ["A", "B", "Ä", "\u{FF21}"]
        let keepers: [Shopkeeper] = names.enumerated().map { Shopkeeper(id: $0.offset, name: $0.element) }
        // Two texts that Swift takes for equal, and stores do not.
        let kinds: [String] = ["book", "map", "é", "e\u{301}", "Zeitung", "地図"]
        var sales: [Sale] = []
        for id in 0..<150 {
            var sale = Sale(id: id, kind: kinds.randomElement(using: &random) ?? "", pieces: 0, price: 0)
            if Int.random(in: 0..<5, using: &random) > 0 { sale.keeper = keepers[id % 4] }
            if Bool.random(using: &random) { sale.year = 1990 + id % 7 }
            sale.pieces = Int.random(in: 0..<40, using: &random)
            sale.price = Double(Int.random(in: 0..<400, using: &random)) / 4
            if Bool.random(using: &random) { sale.cost = Decimal(Int.random(in: 0..<100, using: &random)) / 4 }
            if Int.random(in: 0..<6, using: &random) > 0 {
                let day = Double(Int.random(in: 0..<100, using: &random))
                sale.placed = Date(timeIntervalSince1970: 1_700_000_000 + day * 40_000)
            }
            sales.append(sale)
        }
        return sales
    }

    @Test("Random questions have the answers that Swift computes, in all three, in the same order")
    func random() async throws {
        let count = ProcessInfo.processInfo.environment["PIPPIN_GROUP_QUESTIONS"].flatMap { Int($0) } ?? 80
        var random = SplitMix(state: 59)
        let sales = Self.sales(&random)
        let (folder, database) = (try TestFolder(), try TestDatabase())
        let types: (Sale.Type, Shopkeeper.Type) = (Sale.self, Shopkeeper.self)
        let memory = PersistenceManager(models: types.0, types.1, store: .memory)
        let file = PersistenceManager(models: types.0, types.1, store: .file(folder.store))
        let server = PersistenceManager(models: types.0, types.1, store: .postgres(database.uri()))
        for manager in [memory, file, server] { try await manager.save(sales) }
        var groups = 0
        for _ in 0..<count {
            let question = Question(&random)
            let answer = try await question.answer(memory)
            #expect(Set(answer) == question.expected(sales), "\(question)")
            #expect(try await question.answer(file) == answer, "\(question)")
            #expect(try await question.answer(server) == answer, "\(question)")
            groups += answer.count
        }
        #expect(groups > count)
    }
}
