import Foundation
import PredicateFormat

/// Carries out a fetch plan in memory, on nodes, as SQL does for a store in a database.
enum PlanEvaluation {
    /// The nodes that satisfy the plan's predicate, in its order, within its limit.
    ///
    /// - Throws: an `NSError` that names a key which the entity does not have, or for a sort descriptor with code.
    static func objects(_ plan: FetchPlan, among nodes: [NSAtomicStoreCacheNode]) throws -> [NSAtomicStoreCacheNode] {
        cut(try sorted(matching(plan, nodes), plan), plan)
    }

    /// The dictionaries that a plan with columns finds.
    ///
    /// - Throws: an `NSError` that names a key which the entity does not have, or which leads to many objects.
    static func dictionaries(_ plan: FetchPlan, among nodes: [NSAtomicStoreCacheNode]) throws -> [[String: Any]] {
        let evaluation = try DictionaryEvaluation(plan)
        return try evaluation.dictionaries(of: sorted(matching(plan, nodes), plan).map { .object($0) })
    }

    private static func cut<Element>(_ elements: [Element], _ plan: FetchPlan) -> [Element] {
        let rest = elements.dropFirst(max(plan.offset, 0))
        return Array(plan.limit > 0 ? rest.prefix(plan.limit) : rest)
    }

    /// - Throws: an `NSError` that names a key of the predicate which the entity does not have, or which needs a
    ///   quantifier.
    private static func matching(
        _ plan: FetchPlan, _ nodes: [NSAtomicStoreCacheNode]
    ) throws -> [NSAtomicStoreCacheNode] {
        guard let predicate = plan.predicate else { return nodes }
        if let tree = try? predicateTree(of: predicate) {
            try PredicateKeys.checkEvaluation(tree, of: plan.entity)
            // `price == max(price)`: over all objects of the entity.
            if tree.aggregatesObjects(of: plan.entity) {
                let compiled = CompiledPredicate(
                    tree.aggregating(over: nodes.map { .object($0) }, of: plan.entity))
                return try StoreError.evaluating { nodes.filter { compiled.evaluate($0) } }
            }
        }
        // A predicate without a tree, such as one with a block, evaluates itself.
        guard let compiled = try? compiledPredicate(of: predicate) else {
            return try StoreError.evaluating { nodes.filter { predicate.evaluate(with: $0) } }
        }
        return try StoreError.evaluating { nodes.filter { compiled.evaluate($0) } }
    }

    private static func sorted(
        _ nodes: [NSAtomicStoreCacheNode], _ plan: FetchPlan
    ) throws -> [NSAtomicStoreCacheNode] {
        guard !plan.sortDescriptors.isEmpty else { return nodes }
        let terms: [SortTerm]
        do { terms = try sortTerms(of: plan.sortDescriptors) } catch {
            throw StoreError.make(
                CoreDataErrorCode.coreData, "The fetch cannot be sorted: \(error.localizedDescription)",
                underlying: error)
        }
        for term in terms { try PredicateKeys.checkOne(.keyPath(term.keyPath), of: plan.entity) }
        return nodes.sorted(by: terms)
    }
}
