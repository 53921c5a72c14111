import CoreDataModel
import Foundation
import PredicateFormat

/// Makes the dictionaries of a fetch plan in memory, of objects that were found already, as SQL makes them in a
/// database.
package struct DictionaryEvaluation {
    private let plan: FetchPlan
    private let columns: [GroupColumn]
    private let keys: [GroupExpression]
    /// Whether a group fulfils the condition on groups.
    private var having: ([Value]) -> Bool = { _ in true }

    /// - Parameter plan: the fetch, of which the predicate and the order do not count.
    /// - Throws: an `NSError` that names a key which the entity does not have, or which leads to many objects.
    package init(_ plan: FetchPlan) throws {
        self.plan = plan
        let columns = try plan.columns.map { try GroupColumn($0, of: plan.entity) }
        self.columns = columns
        keys = try plan.groupBy.map { try GroupExpression(plan.tree(ofColumn: $0), of: plan.entity) }
        guard let condition = plan.having else { return }
        if let tree = try? predicateTree(of: condition) {
            having = try GroupCondition(tree, of: plan).holds
        } else {
            // A condition with code has the dictionary of the group.
            having = { group in condition.evaluate(with: Self.dictionary(columns, columns.map { $0.value(of: group) }))
            }
        }
    }

    /// - Parameter objects: the objects, in their order.
    /// - Returns: the dictionaries, in the order of the first object of each, within the plan's limit.
    /// - Throws: an `NSError` if the condition on groups cannot be evaluated.
    package func dictionaries(of objects: [Value]) throws -> [[String: Any]] {
        var groups = objects.map { [$0] }
        if !keys.isEmpty || columns.contains(where: \.computesGroup) {
            groups = try StoreError.evaluating { grouped(objects).filter(having) }
        }
        var rows = groups.map { group in columns.map { $0.value(of: group) } }
        if plan.isDistinct {
            var seen: Set<[Value]> = []
            rows = rows.filter { seen.insert($0).inserted }
        }
        let rest = rows.dropFirst(max(plan.offset, 0))
        return (plan.limit > 0 ? rest.prefix(plan.limit) : rest).map { Self.dictionary(columns, $0) }
    }

    /// Objects grouped by their values, in the order of the first object of each group; one group if there are no keys.
    private func grouped(_ objects: [Value]) -> [[Value]] {
        if keys.isEmpty { return [objects] }
        var positions: [[Value]: Int] = [:]
        var groups: [[Value]] = []
        for object in objects {
            let values = keys.map { $0.value(of: [object]) }
            if let position = positions[values] {
                groups[position].append(object)
            } else {
                positions[values] = groups.count
                groups.append([object])
            }
        }
        return groups
    }

    private static func dictionary(_ columns: [GroupColumn], _ values: [Value]) -> [String: Any] {
        var dictionary: [String: Any] = [:]
        for (column, value) in zip(columns, values) { dictionary[column.name] = column.shown(value) }
        return dictionary
    }
}
