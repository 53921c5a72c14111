import Foundation

/// Many sequences of steps, each from a seed of its own, on the fixed models and on ones made at random in turn.
///
/// The environment may ask for more than a test does: `PIPPIN_CONTRACT` says how many, `PIPPIN_CONTRACT_SEED` names the
/// first seed.
package struct ContractRun {
    private static let environment = ProcessInfo.processInfo.environment
    private static let wanted = environment["PIPPIN_CONTRACT"].flatMap { Int($0) }
    private static let firstSeed = environment["PIPPIN_CONTRACT_SEED"].flatMap { UInt64($0) } ?? 1
    /// How many random models there are: each stays in memory.
    private static let randomModels: UInt64 = 200

    private let maker: any EngineUnderTest
    private let count: Int

    /// - Parameters:
    ///   - maker: makes the engines that are tried.
    ///   - sequences: how many sequences to run where the environment does not say.
    ///   - share: one in how many of those that the environment says.
    package init(_ maker: any EngineUnderTest, sequences: Int, share: Int = 1) {
        self.maker = maker
        count = Self.wanted.map { max(1, $0 / share) } ?? sequences
    }

    /// Runs the sequences.
    ///
    /// - Returns: a report for each that shows a difference, three at most.
    package func reports() throws -> [String] {
        var contract = Contract(maker)
        var reports: [String] = []
        var random: [UInt64: ContractModel] = [:]
        for seed in Self.firstSeed..<Self.firstSeed + UInt64(count) where reports.count < 3 {
            // Two in six are made up.
            let (round, position) = seed.quotientAndRemainder(dividingBy: UInt64(ContractModel.fixed.count + 2))
            let model: ContractModel
            if position < UInt64(ContractModel.fixed.count) {
                model = ContractModel.fixed[Int(position)]
            } else {
                let number = (round * 2 + position) % Self.randomModels
                model = random[number] ?? .random(number)
                random[number] = model
            }
            if let report = try contract.check(seed: seed, model, steps: 20) { reports.append(report) }
        }
        if Self.wanted != nil {
            for (outcome, count) in contract.tally.sorted(by: { $0.key < $1.key }) { print("\(count)\t\(outcome)") }
        }
        return reports
    }
}
