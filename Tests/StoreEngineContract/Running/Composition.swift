import CoreDataModel
import StoreEngine

/// Compares saves that follow one another with the one save that they are composed to, on the reference engine.
package enum Composition {
    /// Makes up saves and composes them, a few at a time.
    ///
    /// - Parameters:
    ///   - seed: the saves are the same for the same seed.
    ///   - model: the model.
    ///   - rounds: how often some saves are composed.
    /// - Returns: the first difference; nil where there is none.
    /// - Throws: the errors of the reference engine.
    package static func difference(seed: UInt64, _ model: ContractModel, rounds: Int) throws -> String? {
        let session = try Session(RecordingMaker(), model.model)
        guard let engine = session.engine as? RecordingEngine else { return "the engine is not a recording one" }
        var workload = Workload(seed: seed, layout: session.layout)
        for round in 1...rounds {
            let former = engine.store
            engine.sets = []
            for _ in 0..<2 + round % 3 {
                try session.readChanges()
                guard var step = workload.nextSave(session.graph) else { continue }
                (step.stale, step.failsAtEnd, step.saysOrders) = ([], false, true)
                _ = try session.perform(.save(step))
            }
            let latest = engine.store
            var composed = ComposedChanges()
            for set in engine.sets { composed.add(set) }
            engine.store = former
            let touched = Set(engine.sets.flatMap { $0.inserted + $0.updated }.map(\.objectID))
            do { _ = try engine.save(composed.changeSet, with: {}) } catch {
                return "seed \(seed), round \(round), \(engine.sets.count) saves: \(error)"
            }
            if let difference = difference(engine.store, latest, former, touched, session.layout) {
                return "seed \(seed), round \(round), \(engine.sets.count) saves: \(difference)"
            }
            engine.store = latest
            session.isChanged = true
        }
        return nil
    }

    private static func difference(
        _ found: ReferenceStore, _ wanted: ReferenceStore, _ former: ReferenceStore, _ touched: Set<NSManagedObjectID>,
        _ layout: ModelLayout
    ) -> String? {
        for identifier in Set(found.rows.keys).union(wanted.rows.keys) {
            guard let row = found.rows[identifier], let other = wanted.rows[identifier] else {
                return "\(identifier) is \(wanted.rows[identifier] == nil ? "there, and should not be" : "missing")"
            }
            if row.values != other.values { return "\(identifier) has \(row.values), not \(other.values)" }
            let growth = row.version - (former.rows[identifier]?.version ?? 0)
            guard growth == 1 || growth == 0 && former.rows[identifier] != nil,
                growth == 0 || touched.contains(identifier)
            else { return "\(identifier) has a version that grew by \(growth)" }
            for relationship in identifier.layout.toManys {
                let (list, otherList) = (
                    found.destinations(of: relationship, for: identifier),
                    wanted.destinations(of: relationship, for: identifier)
                )
                if list != otherList { return "\(identifier) has \(relationship.name) \(list), not \(otherList)" }
            }
        }
        return nil
    }
}

/// A reference engine that notes what it saved.
private final class RecordingEngine: ReferenceEngine {
    var sets: [ChangeSet] = []

    override package func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult {
        let result = try super.save(changes, with: others)
        sets.append(changes)
        return result
    }
}

private struct RecordingMaker: EngineUnderTest {
    func makeEngine(for model: NSManagedObjectModel) throws -> any StoreEngine { try RecordingEngine(model) }
    func reopen(_ engine: any StoreEngine, for model: NSManagedObjectModel) -> any StoreEngine { engine }
    func discard(_ engine: any StoreEngine) {}
}

extension Workload {
    /// The next step that saves; nil where there is none among many.
    fileprivate mutating func nextSave(_ graph: Graph) -> SaveStep? {
        for _ in 0..<50 { if case .save(let step) = next(graph) { return step } }
        return nil
    }
}
