import CoreDataModel
import PredicateFormat

/// How long a statement's SQL becomes. Comparisons that say an operand twice, nested in one another, would make it
/// longer than any memory holds.
final class SQLLength {
    private var allowed = 20_000
    private var segments = 0
    private var operands = 0
    private var depth = 0

    /// Allows as much as a predicate needs without such comparisons. A comparison with a property that several entities
    /// declare may be made with the column of each.
    func allow(for predicate: PredicateTree, _ arguments: [Value], in layout: ModelLayout) {
        var values = 0
        var columns = 0
        var declarers: [String: Int] = [:]
        predicate.forEachComparison { comparison in
            values += 1
            for key in comparison.keys {
                let count = declarers[key] ?? layout.entities.count(where: { $0.declares(key) })
                declarers[key] = count
                columns += count
            }
        }
        predicate.forEachConstant { values += $0.elements?.count ?? 1 }
        for argument in arguments { values += argument.elements?.count ?? 1 }
        allowed += values * 64 + columns * 16
    }

    /// Counts an operand.
    func count() throws {
        operands += 1
        if operands > allowed { throw Self.error }
    }

    /// Makes a comparison, and counts its segments.
    func measuring(_ make: () throws -> SQLCondition) throws -> SQLCondition {
        depth += 1
        defer { depth -= 1 }
        let condition = try make()
        let size = condition.fragment.size(upTo: allowed)
        if segments + size > allowed { throw Self.error }
        // The outer comparison counts what is in it.
        if depth == 1 { segments += size }
        return condition
    }

    private static var error: any Error { SQLError.unsupported("a predicate whose SQL would be too long") }
}

extension ComparisonTree {
    /// The keys of the paths on both sides, without those in subqueries and conditions.
    fileprivate var keys: [String] {
        var keys: [String] = []
        for side in [left, right] {
            side.forEach { expression in
                switch expression {
                case .keyPath(let path), .path(_, let path): keys += path
                default: break
                }
            }
        }
        return keys
    }
}

extension EntityLayout {
    /// Whether the entity has a property, and its superentity has none of that name.
    fileprivate func declares(_ name: String) -> Bool {
        propertyByName[name] != nil && superentity?.propertyByName[name] == nil
    }
}
