import CoreData
import TestSupport
import Testing

/// For models, objects, predicates and sort orders that are made at random, SQL finds the objects for which the
/// predicate is true in memory, in the order that the sort descriptors give them in memory.
///
/// `PIPPIN_RANDOM_CASES=50000 swift test --filter RandomAgreementTests` runs so many instead of 2,000,
/// `PIPPIN_RANDOM_SEED` names the first seed. A failure names its seed; what it shows becomes a test of its own among
/// `AgreementExampleTests`.
@Suite("SQL and memory, at random")
struct RandomAgreementTests {
    private static let casesOfSeed = 50
    private static let seeds: Range<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        let cases = environment["PIPPIN_RANDOM_CASES"].flatMap { Int($0) } ?? 2_000
        let first = environment["PIPPIN_RANDOM_SEED"].flatMap { UInt64($0) } ?? 0
        return first..<first + UInt64((cases + casesOfSeed - 1) / casesOfSeed)
    }()

    @Test("find the same objects in the same order")
    func agree() throws {
        var tally = Tally()
        for seed in Self.seeds where tally.failures.count < 20 { try Self.run(seed, &tally) }
        #expect(tally.failures.isEmpty, "\(tally.failures.joined(separator: "\n"))")
        // What is refused shows nothing: most must run.
        #expect(tally.refused * 10 < tally.compared, "\(tally.refusals)")
        print("\(tally.compared) compared, \(tally.refused) refused by the store, \(tally.found) objects found")
    }

    private struct Tally {
        var compared = 0
        var refused = 0
        var found = 0
        var refusals: [String: Int] = [:]
        var failures: [String] = []
    }

    private static func run(_ seed: UInt64, _ tally: inout Tally) throws {
        var random = SeededNumbers(seed: seed)
        let model = RandomModel.make(&random)
        let folder = try TestFolder()
        let container = try Library.stored(at: folder.file("random.sqlite"), model)
        let context = container.newBackgroundContext()
        tally = try context.performAndWait { [tally, random] in
            var (tally, random) = (tally, random)
            RandomValues.fill(context, model, &random)
            try context.save()
            var objects: [String: [NSManagedObject]] = [:]
            for entity in model.entities { objects[entity.name ?? ""] = try context.all(entity.name ?? "") }
            var predicates = RandomPredicates(random, objects: objects)
            for _ in 0..<casesOfSeed {
                let entity = predicates.random.pick(model.entities)
                let tree = predicates.predicate(of: entity)
                let sorting = predicates.sortDescriptors(of: entity)
                let comparison = AgreementCase(entity: entity, tree: tree, sorting: sorting)
                switch try comparison.run(context, all: objects[entity.name ?? ""] ?? []) {
                case .same(let count):
                    tally.compared += 1
                    tally.found += count
                case .refused(let reason):
                    tally.refused += 1
                    tally.refusals[reason, default: 0] += 1
                case .different(let report): tally.failures.append("seed \(seed): \(report)")
                }
            }
            return tally
        }
    }
}
