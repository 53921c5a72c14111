import Foundation
import Pippin
import Testing

private struct Bill: CoreModel, Equatable {
    let id: Int
    var lines: [Line] = []
    var customer: Customer?
    static var schema: Schema<Bill> { Schema(.owns(\.lines)) }
}

private struct Line: CoreModel, Equatable {
    let id: Int
    var pieces: Int
    var product: Product?
}

private struct Product: CoreModel, Equatable {
    let id: Int
    var name: String
    var price: Double
}

private struct Customer: CoreModel, Equatable {
    let id: Int
    var name: String
    var town: Town?
}

private struct Town: CoreModel, Equatable {
    let id: Int
    var name: String
}

@Suite("A block's changes count for filters that read other models")
struct RelatedChangesTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() async throws {
        counter = try Counter(Bill.self)
        let towns = [Town(id: 1, name: "Bath"), Town(id: 2, name: "York")]
        let products = (1...3).map { Product(id: $0, name: "P\($0)", price: Double($0)) }
        try await counter.manager.save(
            (1...6).map { number in
                Bill(
                    id: number,
                    lines: (0..<3).map {
                        Line(id: 10 * number + $0, pieces: number + $0, product: $0 == 2 ? nil : products[number % 3])
                    },
                    customer: number == 6
                        ? nil
                        : Customer(
                            id: number % 3, name: "C\(number % 3)", town: number % 3 == 2 ? nil : towns[number % 3]))
            })
    }

    /// What some filters select.
    private static func answers(_ store: some ModelReader) throws -> [String: [Int]] {
        let filters: [(String, Filter<Bill>)] = [
            ("name", \.customer?.name == "New"), ("other name", \.customer?.name != "C1"),
            ("no name", \.customer?.name == nil), ("town", \.customer?.town?.name == "New"),
            ("own and town", \.id > 2 && \.customer?.town?.name == "Bath"),
            ("lines", .any(\.lines, \.pieces > 6)), ("all lines", .all(\.lines, \.pieces < 8)),
            ("products", .any(\.lines, \.product?.price > 5)),
        ]
        return try filters.reduce(into: [:]) { answers, filter in
            answers[filter.0] = try store.fetch(Bill.self, where: filter.1).map(\.id).sorted()
            answers[filter.0 + " count"] = [try store.count(Bill.self, where: filter.1)]
            answers[filter.0 + " first"] = [
                try store.first(Bill.self, where: filter.1, sortedBy: .descending(\.id))?.id ?? 0,
                try store.max(Bill.self, \.id, where: filter.1) ?? 0,
            ]
        }
    }

    private static let changes: [@Sendable (WriteAccess) throws -> Void] = [
        { try $0.update(Customer.self, where: \.id == 1) { $0.set(\.name, to: "New") } },
        { try $0.save(Customer(id: 2, name: "New", town: nil)) },
        { try $0.update(Town.self, where: \.name == "York") { $0.set(\.name, to: "New") } },
        { try $0.update(Customer.self, where: \.id == 2) { $0.set(\.town, to: Town(id: 1, name: "")) } },
        { try $0.update(Line.self, where: \.id == 11) { $0.set(\.pieces, to: 9) } },
        { try $0.update(Product.self, where: \.id == 2) { $0.set(\.price, to: 6) } },
        { try $0.delete(Customer.self, id: 0) },
        { try $0.delete(Line.self, where: \.pieces > 7) },
        { try $0.save(Bill(id: 7, lines: [Line(id: 70, pieces: 10)], customer: Customer(id: 9, name: "New"))) },
        { try $0.delete(Town.self, id: 2) },
    ]

    @Test("They count as they do once they are saved", arguments: 0..<changes.count)
    func each(_ number: Int) async throws {
        let before = try await manager.write { store in
            try Self.changes[number](store)
            return try Self.answers(store)
        }
        #expect(try await manager.read { try Self.answers($0) } == before)
    }

    @Test("Several of a block's changes count together", arguments: 0..<20)
    func several(_ seed: Int) async throws {
        let chosen = Self.changes.indices.filter { (seed * 37 + 11) >> ($0 % 6) & 1 == ($0 + seed) % 2 }
        let before = try await manager.write { store in
            for number in seed.isMultiple(of: 2) ? chosen : chosen.reversed() { try Self.changes[number](store) }
            return try Self.answers(store)
        }
        #expect(try await manager.read { try Self.answers($0) } == before)
    }

    @Test("They count where the others only give the order, with a limit, too")
    func order() async throws {
        let before = try await manager.write { store in
            try store.update(Customer.self, where: \.id == 0) { $0.set(\.name, to: "Z") }
            return try store.fetch(Bill.self, sortedBy: .descending(\.customer?.name), limit: 2).map(\.id)
        }
        #expect(before == [3, 2])
        #expect(
            try await manager.fetch(Bill.self, sortedBy: .descending(\.customer?.name), limit: 2).map(\.id) == before)
    }

    @Test("decide what is changed and deleted next")
    func changed() async throws {
        try await manager.write { store in
            try store.update(Customer.self, where: \.id == 1) { $0.set(\.name, to: "New") }
            #expect(try store.update(Bill.self, where: \.customer?.name == "New") { $0.set(\.customer, to: nil) } == 2)
            #expect(try store.delete(Bill.self, where: \.customer?.name == "C1") == 0)
        }
        #expect(try await manager.count(Bill.self, where: \.customer == nil) == 3)
    }
}
