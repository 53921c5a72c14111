import CoreDataModel
import Foundation
import Ordering
import PredicateFormat
import StoreEngine

// Combines dictionaries of several stores in one order and within one limit, like objects of several stores.
extension FetchPlan {
    /// The plan for each of several stores: the results that may come first, with the values that they are sorted by.
    var forEachOfSeveralStores: FetchPlan {
        var plan = self
        plan.offset = 0
        if limit > 0 {
            plan.limit = limit.addingReportingOverflow(max(offset, 0)).overflow ? 0 : limit + max(offset, 0)
        }
        // An additional column would change the groups, totals of all and the distinct rows.
        let isPlain = columns.allSatisfy { if case .keyPath = $0 { true } else { false } }
        guard isPlain || TotalsBesideRows(self) != nil, groupBy.isEmpty, !isDistinct else { return plan }
        let names = Set(columns.map(\.name))
        plan.columns += sortKeys.filter { !names.contains($0) && !$0.isEmpty }.map { .keyPath($0) }
        return plan
    }

    private var sortKeys: [String] {
        ((try? sortTerms(of: sortDescriptors)) ?? []).map { $0.keyPath.joined(separator: ".") }
    }

    /// Combines the results of several stores.
    ///
    /// - Parameter found: the dictionaries of all stores, which were fetched with `forEachOfSeveralStores`.
    /// - Returns: the dictionaries of the plan. Groups are formed within each store.
    func gathered(_ found: [[String: Any]]) -> [[String: Any]] {
        var result = found
        if let terms = try? sortTerms(of: sortDescriptors), !terms.isEmpty { result = Self.sorted(result, by: terms) }
        let names = Set(columns.map(\.name))
        if result.contains(where: { $0.keys.contains { !names.contains($0) } }) {
            result = result.map { $0.filter { names.contains($0.key) } }
        }
        if isDistinct {
            var seen: Set<NSDictionary> = []
            result = result.filter { seen.insert(NSDictionary(dictionary: $0)).inserted }
        }
        let rest = result.dropFirst(max(offset, 0))
        return Array(limit > 0 ? rest.prefix(limit) : rest)
    }

    private static func sorted(_ rows: [[String: Any]], by terms: [SortTerm]) -> [[String: Any]] {
        let keyed = rows.map { row in (row, terms.map { Value(row[$0.keyPath.joined(separator: ".")]) }) }
        // `sort` is stable: equal ones stay in the order of their stores.
        return keyed.ordered { left, right in
            for (place, term) in terms.enumerated() {
                let order = term.comparison.compare(left.1[place], right.1[place])
                if order != .orderedSame { return term.ascending == (order == .orderedAscending) }
            }
            return false
        }.map(\.0)
    }
}
