import Foundation
import SyncSimulation
import Testing

/// The short form of `make test-sync`.
@Suite("Devices and a server")
struct SimulationTests {
    private static let seeds = UInt64(ProcessInfo.processInfo.environment["PIPPIN_SYNC_SEEDS"] ?? "") ?? 6

    @Test("keep all invariants with faults, kills, wrong clocks and programs of three versions")
    func invariants() {
        for seed in 1...Self.seeds {
            let parameters = Parameters(seed: seed)
            let result = Simulation.run(parameters)
            guard let violation = result.violation else { continue }
            let history = Shrinking.shortest(parameters, result, tries: 100)
            Issue.record("Seed \(seed): \(violation)\n\(history.map(\.description).joined(separator: "\n"))")
        }
    }

    @Test("do the same with the same seed")
    func sameSeed() {
        let parameters = Parameters(seed: 4, devices: 3, steps: 300)
        #expect(Simulation.run(parameters).trace == Simulation.run(parameters).trace)
        #expect(Simulation.run(parameters).trace != Simulation.run(Parameters(seed: 5, devices: 3, steps: 300)).trace)
    }

    @Test("do another thing each time if a part of them does not know the seed")
    func unknownSeed() {
        let parameters = Parameters(seed: 4, devices: 3, steps: 300, sabotage: .isRandom)
        #expect(Simulation.run(parameters).trace != Simulation.run(parameters).trace)
    }
}

/// Each rule is broken once, and a seed is known in which an invariant sees it.
@Suite("A broken rule")
struct SabotageTests {
    static let found: [(sabotage: Sabotage, seed: UInt64, invariant: Invariant)] = [
        (.forgetsAnswers, 1, .doesNotStandStill),
        (.thawsBatch, 1, .savesInOrder),
        (.losesJournal, 1, .savedOnce),
        (.reversesBatch, 1, .savesInOrder),
        (.cutsTransaction, 1, .ownSavesVisible),
        (.forgetsOwnEdits, 1, .ownSavesVisible),
        (.ignoresRights, 1, .scopesHold),
        (.keepsLeftRows, 5, .scopesHold),
        (.insertsOnUpdate, 53, .deletedStaysDeleted),
        (.writesUnknown, 6, .unknownUnchanged),
        (.missesUniqueValues, 1, .rulesHold),
        (.missesReferrers, 1, .rulesHold),
        (.movesCursorFirst, 1, .ownSavesVisible),
        (.movesGeneration, 4, .ownSavesVisible),
        (.trustsWallClock, 13, .laterEditWins),
        (.forgetsNotes, 2, .doesNotStandStill),
        (.keepsEpoch, 2, .ownSavesVisible),
        (.forgetsAcknowledged, 2, .savedOnce),
        (.forgetsMerges, 4, .doesNotStandStill),
        (.showsRefused, 1, .devicesEqualServer),
        (.trustsEchoes, 1, .ownSavesVisible),
    ]

    @Test("is seen by an invariant", arguments: Self.found)
    func seen(sabotage: Sabotage, seed: UInt64, invariant: Invariant) {
        let parameters = Parameters(seed: seed, sabotage: sabotage)
        #expect(Simulation.run(parameters).violation?.invariant == invariant)
        // The seeds before are run unbroken above.
        if seed > 6 { #expect(Simulation.run(Parameters(seed: seed)).violation == nil) }
    }

    @Test("is in the list of those that are seen")
    func complete() {
        #expect(Set(Self.found.map(\.sabotage)).union([.isRandom]) == Set(Sabotage.allCases))
    }

    @Test("leads to a short history, no step of which can be left out")
    func shortHistory() {
        let steps = (0..<20).map { Step.save($0 % 2, 1) } + [.kill(1)]
        let shortest = Shrinking.shrink(steps, tries: 500) { steps in
            steps.filter { $0 == .save(1, 1) }.count >= 2 && steps.contains(.kill(1))
        }
        #expect(shortest == [.save(1, 1), .save(1, 1), .kill(1)])
    }
}
