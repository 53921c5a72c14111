import CoreDataModel
import Foundation
import SQLiteEngine
import StoreEngine
import StoreEngineContract
import TestSupport
import Testing

/// `make test` tries 200 sequences, the same each time; `make fuzz` 10,000 (`PIPPIN_CONTRACT`), from
/// `PIPPIN_CONTRACT_SEED` on.
@Suite("The contract of store engines")
struct SQLiteContractTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = Int(environment["PIPPIN_CONTRACT"] ?? "")
    private static let firstSeed = UInt64(environment["PIPPIN_CONTRACT_SEED"] ?? "") ?? 1

    @Test("is kept by SQLite in memory")
    func inMemory() throws { try run(SQLiteInMemory(), sequences: Self.count ?? 160) }

    @Test("is kept by SQLite in a file")
    func inFile() throws { try run(SQLiteInFile(), sequences: (Self.count ?? 200) / 5) }

    /// Runs sequences on the fixed models and on ones made at random, in turn.
    private func run(_ engine: any EngineUnderTest, sequences: Int) throws {
        var contract = Contract(engine)
        var reports: [String] = []
        for seed in Self.firstSeed..<Self.firstSeed + UInt64(sequences) where reports.count < 3 {
            let number = Int(seed % UInt64(ContractModel.fixed.count + 2))
            let model =
                ContractModel.fixed.indices.contains(number)
                ? ContractModel.fixed[number] : .random(seed / UInt64(ContractModel.fixed.count + 2) % 200)
            if let report = try contract.check(seed: seed, model, steps: 25) { reports.append(report) }
        }
        for report in reports { Issue.record("\(report)") }
        if Self.count != nil {
            for (outcome, count) in contract.tally.sorted(by: { $0.key < $1.key }) { print("\(count)\t\(outcome)") }
        }
    }
}
