import CoreDataModel
import StoreEngine
import Testing

@testable import StoreEngineContract

/// Engines that are wrong on purpose: whether the contract would notice.
@Suite("The contract of store engines")
struct BrokenEngineTests {
    /// - Returns: how many steps the first report takes to show that an engine is wrong; nil where none does.
    private func stepsToShow(_ make: @escaping (NSManagedObjectModel) throws -> ReferenceEngine) throws -> Int? {
        var contract = Contract(Broken(make: make))
        for seed in 1...40 as ClosedRange<UInt64> {
            let model = ContractModel.fixed[Int(seed) % ContractModel.fixed.count]
            guard let report = try contract.check(seed: seed, model, steps: 25) else { continue }
            return report.components(separatedBy: "\n    Step.").count - 1
        }
        return nil
    }

    @Test("finds nothing where nothing is wrong")
    func nothing() throws { #expect(try stepsToShow { try ReferenceEngine($0) } == nil) }

    @Test("finds an engine that sorts upwards only, and shows it in a few steps")
    func order() throws { #expect(1...4 ~= (try stepsToShow { try Ascending($0) } ?? 0)) }

    @Test("finds an engine that writes what another store's failure should take back")
    func atomicity() throws { #expect(1...2 ~= (try stepsToShow { try Hasty($0) } ?? 0)) }

    @Test("finds an engine that overwrites what somebody else has changed")
    func versions() throws { #expect(1...3 ~= (try stepsToShow { try Careless($0) } ?? 0)) }

    @Test("finds an engine that forgets the order of a relationship")
    func destinations() throws { #expect(1...3 ~= (try stepsToShow { try Unordered($0) } ?? 0)) }
}

/// Makes engines that live in memory.
private struct Broken: EngineUnderTest {
    let make: (NSManagedObjectModel) throws -> ReferenceEngine

    func makeEngine(for model: NSManagedObjectModel) throws -> any StoreEngine { try make(model) }
    func reopen(_ engine: any StoreEngine, for model: NSManagedObjectModel) -> any StoreEngine { engine }
    func discard(_ engine: any StoreEngine) {}
}

private final class Ascending: ReferenceEngine {
    private func ascending(_ plan: FetchPlan) -> FetchPlan {
        var plan = plan
        plan.sortDescriptors = plan.sortDescriptors.map { NSSortDescriptor(key: $0.key, ascending: true) }
        return plan
    }

    override func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> { try super.fetchRows(ascending(plan)) }
    override func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
        try super.fetchIdentifiers(ascending(plan))
    }
}

private final class Hasty: ReferenceEngine {
    override func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult {
        let result = try super.save(changes, with: {})
        try others()
        return result
    }
}

private final class Careless: ReferenceEngine {
    override func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult {
        var current = changes
        current.updated = try changes.updated.map { change in
            RowChange(
                objectID: change.objectID, version: try rows(for: [change.objectID]).first?.version ?? change.version,
                values: change.values, changedSlots: change.changedSlots, toManyChanges: change.toManyChanges)
        }
        return try super.save(current, with: others)
    }
}

private final class Unordered: ReferenceEngine {
    override func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try super.destinations(of: relationship, for: identifiers).map { $0.sorted { $0.key < $1.key } }
    }
}
