import Foundation
import PredicateFormat

/// Carries out a fetch plan in memory, on nodes, as SQL does for a store in a database.
enum PlanEvaluation {
    /// The nodes that satisfy the plan's predicate, in its order, within its limit.
    ///
    /// - Throws: an `NSError` for a sort descriptor with code.
    static func objects(_ plan: FetchPlan, among nodes: [NSAtomicStoreCacheNode]) throws -> [NSAtomicStoreCacheNode] {
        cut(try sorted(matching(plan, nodes), plan.sortDescriptors), plan)
    }

    /// The dictionaries that a plan with columns finds.
    static func dictionaries(_ plan: FetchPlan, among nodes: [NSAtomicStoreCacheNode]) throws -> [[String: Any]] {
        let found = try sorted(matching(plan, nodes), plan.sortDescriptors)
        var dictionaries: [[String: Any]]
        if !plan.groupBy.isEmpty || plan.columns.contains(where: isAggregate) {
            var groups = groups(of: found, by: plan.groupBy)
            if let having = plan.having {
                groups = try StoreError.evaluating { groups.filter { holds(having, of: $0, plan) } }
            }
            dictionaries = groups.map { dictionary(plan, group: $0) }
        } else {
            dictionaries = found.map { node in dictionary(plan, group: [node]) }
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

    /// - Throws: an `NSError` that names a key of the predicate which the entity does not have, or which needs a quantifier.
    private static func matching(
        _ plan: FetchPlan, _ nodes: [NSAtomicStoreCacheNode]
    ) throws -> [NSAtomicStoreCacheNode] {
        guard let predicate = plan.predicate else { return nodes }
        if let tree = try? predicateTree(of: predicate) {
            if let obstacle = tree.obstacle {
                throw StoreError.make(CoreDataErrorCode.coreData, "The predicate cannot be used: \(obstacle).")
            }
            try PredicateKeys.check(tree, of: plan.entity)
        }
        // A predicate without a tree, such as one with a block, evaluates itself.
        guard let compiled = try? compiledPredicate(of: predicate) else {
            return try StoreError.evaluating { nodes.filter { predicate.evaluate(with: $0) } }
        }
        return try StoreError.evaluating { nodes.filter { compiled.evaluate($0) } }
    }

    private static func sorted(
        _ nodes: [NSAtomicStoreCacheNode], _ descriptors: [NSSortDescriptor]
    ) throws -> [NSAtomicStoreCacheNode] {
        guard !descriptors.isEmpty else { return nodes }
        do { return nodes.sorted(by: try sortTerms(of: descriptors)) } catch {
            throw StoreError.make(
                CoreDataErrorCode.coreData, "The fetch cannot be sorted: \(error.localizedDescription)",
                underlying: error)
        }
    }

    // MARK: Dictionaries

    /// Whether a group satisfies a predicate with aggregates of its nodes, or with columns as keys or variables.
    private static func holds(
        _ having: NSPredicate, of group: [NSAtomicStoreCacheNode], _ plan: FetchPlan
    ) -> Bool {
        let values = dictionary(plan, group: group)
        guard let tree = try? predicateTree(of: having) else { return having.evaluate(with: values) }
        let computed = tree.mapExpressions { expression in
            guard case .function(let function, _) = expression, aggregates.contains(function.rawValue) else {
                return expression
            }
            return .constant(Value(makeExpression(expression).expressionValue(with: group, context: nil)))
        }
        return CompiledPredicate(computed).evaluate(Value(values), variables: values.mapValues { Value($0) })
    }

    private static let aggregates: Set<String> = ["count:", "sum:", "min:", "max:", "average:"]

    private static func isAggregate(_ column: FetchColumn) -> Bool {
        guard case .expression(_, let expression, _) = column, expression.expressionType == .function else {
            return false
        }
        return aggregates.contains(expression.function)
    }

    /// Nodes grouped by their values, in the order of the first node of each group; one group if there are no keys.
    private static func groups(of nodes: [NSAtomicStoreCacheNode], by keys: [String]) -> [[NSAtomicStoreCacheNode]] {
        if keys.isEmpty { return [nodes] }
        var positions: [[Value]: Int] = [:]
        var groups: [[NSAtomicStoreCacheNode]] = []
        for node in nodes {
            let values = keys.map { value(of: node, $0) }
            if let position = positions[values] {
                groups[position].append(node)
            } else {
                positions[values] = groups.count
                groups.append([node])
            }
        }
        return groups
    }

    private static func value(of node: NSAtomicStoreCacheNode, _ keyPath: String) -> Value {
        Value.object(ObjectReference(node)).value(forKeyPath: keyPath.split(separator: ".").map(String.init))
    }

    /// The value in its attribute's type: a Boolean, not 1.
    private static func typed(_ value: Any?, _ path: String, _ entity: EntityLayout) -> Any? {
        guard let value, let attribute = entity.attribute(at: path.split(separator: ".").map(String.init)) else {
            return value
        }
        return StoredValue(value, for: attribute).objectValue(for: attribute)
    }

    private static func dictionary(_ plan: FetchPlan, group: [NSAtomicStoreCacheNode]) -> [String: Any] {
        var dictionary: [String: Any] = [:]
        for column in plan.columns {
            switch column {
            case .keyPath(let path):
                guard let node = group.first else { continue }
                let value = value(of: node, path).any
                dictionary[path] = (value as? NSAtomicStoreCacheNode)?.objectID ?? typed(value, path, plan.entity)
            case .expression(let name, let expression, _):
                let object: Any? = isAggregate(column) ? group : group.first
                let value = expression.expressionValue(with: object, context: nil)
                dictionary[name] = (value as? NSAtomicStoreCacheNode)?.objectID ?? value
            }
        }
        return dictionary
    }
}
