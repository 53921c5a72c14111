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
        let columns = try plan.columns.map { try NodeColumn($0, of: plan.entity) }
        let keys = try plan.groupBy.map { try NodeExpression(plan.tree(ofColumn: $0), of: plan.entity) }
        let having = try plan.having.map { try condition($0, plan, columns) }
        let found = try sorted(matching(plan, nodes), plan)
        var dictionaries: [[String: Any]]
        if !keys.isEmpty || columns.contains(where: \.computesGroup) {
            var groups = groups(of: found, by: keys)
            if let having { groups = try StoreError.evaluating { groups.filter(having) } }
            dictionaries = groups.map { dictionary(columns, group: $0) }
        } else {
            dictionaries = found.map { dictionary(columns, group: [$0]) }
        }
        if plan.isDistinct {
            var seen: Set<NSDictionary> = []
            dictionaries = dictionaries.filter { seen.insert(NSDictionary(dictionary: $0)).inserted }
        }
        return cut(dictionaries, plan)
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
            try check(tree, of: plan.entity)
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

    /// - Throws: an `NSError` that says why the predicate cannot be evaluated.
    static func check(_ predicate: PredicateTree, of entity: EntityLayout) throws {
        let obstacle = predicate.obstacle ?? predicate.openVariable.map { "the variable $\($0) has no value" }
        if let obstacle {
            throw StoreError.make(CoreDataErrorCode.coreData, "The predicate cannot be used: \(obstacle).")
        }
        try PredicateKeys.check(predicate, of: entity)
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

    // MARK: Dictionaries

    /// Nodes grouped by their values, in the order of the first node of each group; one group if there are no keys.
    private static func groups(
        of nodes: [NSAtomicStoreCacheNode], by keys: [NodeExpression]
    ) -> [[NSAtomicStoreCacheNode]] {
        if keys.isEmpty { return [nodes] }
        var positions: [[Value]: Int] = [:]
        var groups: [[NSAtomicStoreCacheNode]] = []
        for node in nodes {
            let values = keys.map { $0.value(of: [node]) }
            if let position = positions[values] {
                groups[position].append(node)
            } else {
                positions[values] = groups.count
                groups.append([node])
            }
        }
        return groups
    }

    /// A condition on groups; one with code has the dictionary of the group.
    private static func condition(
        _ having: NSPredicate, _ plan: FetchPlan, _ columns: [NodeColumn]
    ) throws -> ([NSAtomicStoreCacheNode]) -> Bool {
        guard let tree = try? predicateTree(of: having) else {
            return { having.evaluate(with: dictionary(columns, group: $0)) }
        }
        return try NodeCondition(tree, of: plan).holds
    }

    private static func dictionary(_ columns: [NodeColumn], group: [NSAtomicStoreCacheNode]) -> [String: Any] {
        var dictionary: [String: Any] = [:]
        for column in columns { dictionary[column.name] = column.value(of: group) }
        return dictionary
    }
}
