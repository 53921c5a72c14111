import Foundation
import Pippin
import Testing

/// A sale of a book: values of each kind that can be added up, compared or counted.
private struct Sale: CoreModel, Equatable {
    let id: Int
    var pieces: Int
    var price: Decimal?
    var weight: Double
    var town: String?
    var day: Date
    var terms = Terms(discount: 0)
    var buyer: Buyer?

    struct Terms: Codable, Equatable, Sendable { var discount: Int }
}

private struct Buyer: CoreModel, Equatable {
    let id: Int
    var name: String
    var age: Int?
}

/// Everything that can be asked of sales, with and without a filter.
private struct Answers: Equatable {
    var pieces: [Int?] = []
    var prices: [Decimal?] = []
    var weights: [Double?] = []
    var towns: [String?] = []
    var days: [Date?] = []
    var groups: [[String?: Int]] = []
    var byBuyer: [[String?: Decimal]] = []
    var daysByTown: [[String?: Date]] = []
    var averages: [[String?: Int]] = []

    init(_ store: some ModelReader) throws {
        for filter: Filter<Sale> in [.all, \.pieces > 4, \.town == "Bath", \.buyer?.id == 1 || \.weight < 3] {
            pieces += [
                try store.sum(Sale.self, \.pieces, where: filter), try store.max(Sale.self, \.pieces, where: filter),
                try store.max(Sale.self, \.terms.discount, where: filter), try store.count(Sale.self, where: filter),
                try store.min(Sale.self, \.buyer?.age, where: filter),
            ]
            prices += [
                try store.sum(Sale.self, \.price, where: filter), try store.min(Sale.self, \.price, where: filter),
            ]
            weights += [
                try store.average(Sale.self, \.pieces, where: filter),
                try store.max(Sale.self, \.weight, where: filter),
                try store.average(Sale.self, \.price, where: filter),
            ]
            towns += try store.distinct(Sale.self, \.town, where: filter)
            towns += [
                try store.min(Sale.self, \.town, where: filter), try store.max(Sale.self, \.buyer?.name, where: filter),
            ]
            days += [try store.min(Sale.self, \.day, where: filter), try store.max(Sale.self, \.day, where: filter)]
            groups += [
                try store.count(Sale.self, by: \.town, where: filter),
                try store.sum(Sale.self, \.pieces, by: \.town, where: filter),
                try store.count(Sale.self, by: \.buyer?.name, where: filter),
            ]
            byBuyer += [
                try store.sum(Sale.self, \.price, by: \.buyer?.name, where: filter),
                try store.max(Sale.self, \.price, by: \.buyer?.name, where: filter),
            ]
            daysByTown += [
                try store.min(Sale.self, \.day, by: \.town, where: filter),
                try store.max(Sale.self, \.day, by: \.town, where: filter),
            ]
            // Of a group's part in the store and the changed part, which may differ in the last bits.
            averages.append(
                try store.average(Sale.self, \.weight, by: \.town, where: filter).mapValues {
                    Int(($0 * 1_000_000).rounded())
                })
        }
    }
}

/// What a program may ask in turn with changes.
private struct Figures: Equatable {
    var numbers: [Int?]
    let worth: Decimal?
    let weight: Double?
    var sales: [Sale]

    init(_ store: some ModelReader) throws {
        numbers = [
            try store.count(Sale.self), try store.count(Sale.self, where: \.pieces > 4),
            try store.max(Sale.self, \.id), try store.min(Sale.self, \.pieces, where: \.weight > 3),
            try store.sum(Sale.self, \.pieces),
            try store.exists(Sale.self, where: \.pieces == 9 && \.weight > 9) ? 1 : 0,
        ]
        worth = try store.sum(Sale.self, \.price, where: \.pieces > 0)
        weight = try store.average(Sale.self, \.weight)
        sales = try store.fetch(Sale.self, sortedBy: [.descending(\.weight), .ascending(\.id)], limit: 3)
    }

    init(_ sales: [Sale]) {
        numbers = [
            sales.count, sales.count { $0.pieces > 4 }, sales.map(\.id).max(),
            sales.filter { $0.weight > 3 }.map(\.pieces).min(), sales.isEmpty ? nil : sales.map(\.pieces).reduce(0, +),
            sales.contains { $0.pieces == 9 && $0.weight > 9 } ? 1 : 0,
        ]
        let prices = sales.filter { $0.pieces > 0 }.compactMap(\.price)
        worth = prices.isEmpty ? nil : prices.reduce(0, +)
        weight = sales.isEmpty ? nil : sales.map(\.weight).reduce(0, +) / Double(sales.count)
        self.sales = Array(sales.sorted { ($0.weight, $1.id) > ($1.weight, $0.id) }.prefix(3))
    }
}

@Suite("What a block is told of its own changes")
struct UnsavedAggregateTests {
    private static let towns = ["Bath", "Bristol", "bath", "Zürich", "", nil]
    private static let buyers = [
        Buyer(id: 1, name: "Ann", age: 30), Buyer(id: 2, name: "Bob"), Buyer(id: 3, name: "Cy", age: 50), nil,
    ]

    private func sale(_ id: Int, _ random: inout some RandomNumberGenerator) -> Sale {
        // Sums of these prices and weights are exact in any order, also as doubles.
        Sale(
            id: id, pieces: .random(in: -3...9, using: &random),
            price: [nil, 0.25, 2.5, 1_000_000.5].randomElement(using: &random) ?? nil,
            weight: Double(Int.random(in: 0...40, using: &random)) / 4,
            town: Self.towns.randomElement(using: &random) ?? nil,
            day: Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0...1000, using: &random))),
            terms: .init(discount: .random(in: 0...5, using: &random)),
            buyer: Self.buyers.randomElement(using: &random) ?? nil)
    }

    @Test("is what it is told once they are saved", arguments: 0..<40)
    func random(seed: Int) async throws {
        var random = SystemLikeGenerator(state: UInt64(seed))
        let counter = try Counter(Sale.self)
        let manager = counter.manager
        try await manager.save((0..<30).map { sale($0, &random) })
        let changes = (0..<Int.random(in: 1...12, using: &random)).map { _ in Int.random(in: 0..<7, using: &random) }
        let sales = (0..<40).map { sale($0, &random) }
        let ids = changes.map { _ in Int.random(in: 0..<40, using: &random) }
        let before = try await manager.write { store in
            for (change, id) in zip(changes, ids) {
                switch change {
                case 0...2: try store.save(sales[id])
                case 3: try store.delete(Sale.self, ids: [id])
                case 4: try store.delete(Sale.self, where: \.pieces == sales[id].pieces)
                case 5: try store.update(Sale.self, where: \.id == id) { $0.set(\.town, to: sales[id].town) }
                default:
                    try store.update(Buyer.self, where: \.id == id % 4) {
                        $0.set(\.name, to: "Dan")
                        $0.set(\.age, to: nil)
                    }
                }
            }
            return try Answers(store)
        }
        let after = try await manager.read { try Answers($0) }
        #expect(before.pieces == after.pieces)
        #expect(before.prices == after.prices)
        #expect(before.weights == after.weights)
        #expect(before.towns == after.towns)
        #expect(before.days == after.days)
        #expect(before.groups == after.groups)
        #expect(before.byBuyer == after.byBuyer)
        #expect(before.daysByTown == after.daysByTown)
        #expect(before.averages == after.averages)
    }

    @Test("is true of the changes so far, however often it is told", arguments: 0..<10)
    func inTurn(seed: Int) async throws {
        var random = SystemLikeGenerator(state: UInt64(seed))
        let counter = try Counter(Sale.self)
        let stored = (0..<40).map { sale($0, &random) }
        try await counter.manager.save(stored)
        let changes = (0..<250).map { _ in sale(.random(in: 0..<200, using: &random), &random) }
        try await counter.manager.write { store in
            var known = Dictionary(uniqueKeysWithValues: stored.map { ($0.id, $0) })
            for (step, change) in changes.enumerated() {
                switch step % 5 {
                case 0 where step > 100:
                    try store.delete(Sale.self, ids: [change.id])
                    known[change.id] = nil
                case 1 where step > 100:
                    try store.update(Sale.self, where: \.pieces == change.pieces) {
                        $0.set(\.weight, to: change.weight)
                    }
                    for sale in known.values where sale.pieces == change.pieces {
                        known[sale.id]?.weight = change.weight
                    }
                default:
                    try store.save(change)
                    known[change.id] = change
                }
                #expect(try Figures(store) == Figures(Array(known.values)))
            }
        }
    }

    @Test("may be about more changes than a statement has parameters")
    func many() async throws {
        let counter = try Counter(Sale.self)
        let (count, day) = (40_000, Date(timeIntervalSinceReferenceDate: 0))
        try await counter.manager.save((0..<count).map { Sale(id: $0, pieces: 1, weight: 1, day: day) })
        let sums = try await counter.manager.write { store in
            try store.save((1..<count).map { Sale(id: $0, pieces: 2, weight: 1, day: day) })
            return [try store.sum(Sale.self, \.pieces), try store.min(Sale.self, \.pieces)]
        }
        #expect(sums == [2 * count - 1, 1])
    }
}

private struct SystemLikeGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state ^ (state >> 31)) &* 0x9E37_79B9_7F4A_7C15
    }
}
