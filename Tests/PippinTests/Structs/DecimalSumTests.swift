import Foundation
import Pippin
import Testing

@CoreModel
private struct Posting: Equatable {
    let id: Int
    var account: String
    var amount: Decimal?
}

@Suite("Sums of decimals have no rounding errors")
struct DecimalSumTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() throws { counter = try Counter(Posting.self) }

    private func save(_ amounts: [String?], account: String = "a") async throws {
        let count = try await manager.count(Posting.self)
        try await manager.save(
            amounts.enumerated().map { place, amount in
                Posting(id: count + place, account: account, amount: amount.map { Decimal(string: $0)! })
            })
    }

    @Test("are exact over thousands of amounts that come to little")
    func ledger() async throws {
        let amounts = (1...2000).map { Decimal($0 * 7919 % 1_000_000) / 100 }
        try await save(amounts.map { "\($0)" } + amounts.dropLast().map { "-\($0)" })
        #expect(try await manager.sum(Posting.self, \.amount) == amounts.last)
        #expect(try await manager.sum(Posting.self, \.amount, by: \.account) == ["a": amounts.last])
    }

    @Test(
        "are exact for any number of digits, and any size",
        arguments: [
            ["0.1", "0.2"], ["1e20", "1", "-1e20"], ["0.000000000000001", "123456789012345"],
            ["999999999999999", "0.1", "-999999999999999"], ["1e-30", "1e-31"], ["5", "0.05", "-5.05"],
        ])
    func sizes(amounts: [String]) async throws {
        try await save(amounts)
        let sum = amounts.reduce(Decimal(0)) { $0 + Decimal(string: $1)! }
        let stored = try #require(try await manager.sum(Posting.self, \.amount))
        #expect(abs(stored - sum) <= abs(sum) * Decimal(string: "1e-14")!)
    }

    @Test("beyond what whole numbers hold")
    func large() async throws {
        try await save([String](repeating: "900000000000000", count: 20_000) + ["0.5"])
        // A file keeps 15 digits of it.
        let sum = try #require(try await manager.sum(Posting.self, \.amount))
        #expect(abs(sum - Decimal(string: "18000000000000000000.5")!) < 1)
    }

    @Test("leave out what is missing, and are nil of nothing")
    func missing() async throws {
        try await save([nil, "0.1", nil, "0.2"])
        try await save([nil], account: "b")
        #expect(try await manager.sum(Posting.self, \.amount) == Decimal(string: "0.3"))
        #expect(try await manager.sum(Posting.self, \.amount, where: \.account == "b") == nil)
        #expect(try await manager.sum(Posting.self, \.amount, by: \.account) == ["a": Decimal(string: "0.3")])
    }
}
