import Foundation
import Testing

/// Each save is compared with what the merge policy says of what the context knew, changed, and of what the store had.
///
/// `make test` tries some runs, the same each time; `make fuzz` 2,000 (`PIPPIN_RIVALS`), from `PIPPIN_RIVALS_SEED` on.
@Suite("Contexts that change the same objects at random")
struct RivalContextsTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["PIPPIN_RIVALS"].flatMap(UInt64.init) ?? 25
    private static let firstSeed = environment["PIPPIN_RIVALS_SEED"].flatMap(UInt64.init) ?? 1

    @Test("store what their merge policies say, show what is stored, and keep everything when a save fails")
    func rivals() {
        var failures = 0
        for seed in Self.firstSeed..<(Self.firstSeed + Self.count) where failures < 5 {
            do { try RivalRun(seed: seed).run(steps: 60) } catch {
                failures += 1
                Issue.record("seed \(seed): \(error)")
            }
        }
    }
}
