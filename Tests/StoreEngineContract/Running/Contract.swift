import CoreDataModel
import Foundation
import StoreEngine

/// Runs steps on an engine and on the reference engine, and says where they part.
package struct Contract {
    private let maker: any EngineUnderTest

    package init(_ maker: any EngineUnderTest) { self.maker = maker }

    /// How often each step came to what.
    package private(set) var tally: [String: Int] = [:]

    /// Runs given steps.
    ///
    /// - Returns: the first difference; nil where there is none.
    package func difference(of steps: [Step], _ model: ContractModel) throws -> String? {
        let pair = try SessionPair(maker, model)
        for (position, step) in steps.enumerated() {
            if let difference = pair.perform(step)?.difference { return "step \(position + 1): \(difference)" }
        }
        return pair.finish()
    }

    /// Makes up steps and runs them.
    ///
    /// - Returns: a report with the fewest steps that were found to lead to a difference; nil where there is none.
    package mutating func check(seed: UInt64, _ model: ContractModel, steps count: Int) throws -> String? {
        let pair = try SessionPair(maker, model)
        var workload = Workload(seed: seed, layout: pair.reference.layout)
        var steps: [Step] = []
        for _ in 0..<count {
            let step = workload.next(pair.reference.graph)
            guard pair.canPerform(step) else { continue }
            steps.append(step)
            let result = pair.perform(step)
            if let result { tally["\(step.name): \(result.kind)", default: 0] += 1 }
            guard let difference = result?.difference else { continue }
            return report(seed, model, steps, difference)
        }
        return pair.finish().map { report(seed, model, steps, $0) }
    }

    private func report(_ seed: UInt64, _ model: ContractModel, _ steps: [Step], _ difference: String) -> String {
        let fewest = Shrinking(steps) { (try? self.difference(of: $0, model)) ?? nil != nil }.fewest
        let latest = (try? self.difference(of: fewest, model)) ?? nil ?? "\(difference) (not when run again)"
        return """
            seed \(seed), model \(model.name): \(latest)
            To run it again: Contract(…).difference(of: steps, \(model.source)), with
            let steps: [Step] = [
            \(fewest.map { "    \($0.source),\n" }.joined())]
            """
    }
}

extension Step {
    /// A word for statistics.
    var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }

    /// The step as it is written in Swift.
    var source: String {
        String(reflecting: self).replacingOccurrences(of: "StoreEngineContract.", with: "")
            .replacingOccurrences(of: "Swift.Optional.", with: "")
    }
}

/// The engine under test and the reference, which take every step together.
final class SessionPair {
    let reference: Session
    private let tested: Session

    init(_ maker: any EngineUnderTest, _ model: ContractModel) throws {
        reference = try Session(ReferenceMaker(), model.model)
        tested = try Session(maker, model.model)
    }

    /// - Returns: what only shows when all has been done; nil where all is right.
    func finish() -> String? {
        do { try tested.checkPairs() } catch { return "in the end: \(error)" }
        return nil
    }

    /// Whether the engine can do what a step needs; capabilities are its own choice.
    func canPerform(_ step: Step) -> Bool {
        switch step {
        case .insertBatch, .updateBatch, .deleteBatch: tested.engine.batches != nil
        case .longTransaction: tested.engine.longTransactions != nil
        case .reserveKeys: tested.engine.keys != nil
        case .save, .fetch, .dictionaries, .reopen: true
        }
    }

    struct Result {
        let kind: String
        var difference: String?
    }

    func perform(_ step: Step) -> Result? {
        do {
            let former = (reference.graph, tested.graph)
            let expected = try reference.perform(step)
            let found: Outcome
            do { found = try tested.perform(step) } catch {
                return Result(kind: "contradiction", difference: "the engine contradicts itself: \(error)")
            }
            var result = Result(kind: expected.kind)
            if found != expected, !isAllowed(found, insteadOf: expected) {
                result.difference = "the outcome is \(found), and should be \(expected)"
                return result
            }
            if case .fetch = step { return result }
            if case .dictionaries = step { return result }
            try reference.readChanges()
            try tested.readChanges()
            result.difference = difference(since: former, isSave: step.isSave)
            return result
        } catch { return Result(kind: "contradiction", difference: "\(error)") }
    }

    /// What is wrong in two ways may be refused for either.
    private func isAllowed(_ found: Outcome, insteadOf expected: Outcome) -> Bool {
        guard let error = (reference.engine as? ReferenceEngine)?.alternative else { return false }
        let alternative = reference.outcome(of: error)
        switch expected {
        case .conflicts, .violations, .failed: return found == alternative || found == .failed(alternative.kind)
        default: return false
        }
    }

    /// How the states differ. Versions grow by one with a save; batches may count in larger steps.
    private func difference(since former: (reference: Graph, tested: Graph), isSave: Bool) -> String? {
        let (expected, found) = (reference.graph.objects, tested.graph.objects)
        for number in Set(expected.keys).union(found.keys).sorted() {
            guard let wanted = expected[number], let present = found[number] else {
                return "\(number) is \(expected[number] == nil ? "there, and should not be" : "missing")"
            }
            if !wanted.hasSameContent(as: present) {
                return "\(wanted.entity.name) \(number) \(wanted.differences(to: present))"
            }
            let growth = wanted.version - (former.reference.objects[number]?.version ?? 0)
            let growthFound = present.version - (former.tested.objects[number]?.version ?? 0)
            guard isSave ? growth == growthFound : (growth > 0) == (growthFound > 0) && growthFound >= 0 else {
                return "\(wanted.entity.name) \(number) has a version that grew by \(growthFound), not \(growth)"
            }
        }
        return nil
    }
}

extension Step {
    fileprivate var isSave: Bool {
        switch self {
        case .save, .longTransaction: true
        default: false
        }
    }
}

extension Graph.Object {
    fileprivate func differences(to found: Graph.Object) -> String {
        if entity !== found.entity { return "is of entity \(found.entity.name)" }
        var parts: [String] = []
        for slot in values.indices where values[slot] != found.values[slot] {
            parts.append("has \(entity.slots[slot].name) \(found.values[slot]), which should be \(values[slot])")
        }
        for relationship in entity.toManys where toManys[relationship.index] != found.toManys[relationship.index] {
            parts.append(
                "has \(relationship.name) \(found.toManys[relationship.index]), which should be "
                    + "\(toManys[relationship.index])")
        }
        return parts.joined(separator: "; ")
    }
}

/// Makes reference engines, which no closing ends.
struct ReferenceMaker: EngineUnderTest {
    func makeEngine(for model: NSManagedObjectModel) throws -> any StoreEngine { try ReferenceEngine(model) }
    func reopen(_ engine: any StoreEngine, for model: NSManagedObjectModel) -> any StoreEngine { engine }
    func discard(_ engine: any StoreEngine) {}
}
