import CoreDataModel
import Foundation
import PredicateFormat
import StoreEngine

/// A fetch of dictionaries that have values of each object and, beside them, `sum:` and similar functions of all.
///
/// Core Data gives a dictionary for each object then, with the same totals in each; of several stores, each has its own
/// totals here. In SQL these are two statements: one alone has a single row, with the values of any object.
struct TotalsBesideRows {
    /// The columns that are computed of all objects.
    private(set) var totals: FetchPlan
    /// The columns of each object, in the plan's order and within its limit.
    private(set) var rows: FetchPlan

    /// `nil` for a plan with groups, and for one that wants totals only, or none. Pure.
    init?(_ plan: FetchPlan) {
        guard plan.groupBy.isEmpty else { return nil }
        let areTotals = plan.columns.map { $0.isTotal(of: plan.entity) }
        guard areTotals.contains(true) else { return nil }
        totals = plan
        rows = plan
        totals.columns = zip(plan.columns, areTotals).filter(\.1).map(\.0)
        rows.columns = zip(plan.columns, areTotals).filter { !$0.1 }.map(\.0)
        guard rows.columns.contains(where: { $0.tree.readsObject }) else { return nil }
        totals.sortDescriptors = []
        totals.limit = 0
        totals.offset = 0
        totals.isDistinct = false
    }

    /// The dictionaries of both, read from one state of a store if its engine can do that.
    func dictionaries(from engine: any StoreEngine) throws -> [[String: Any]] {
        var found: [[String: Any]] = []
        let read = {
            found = try engine.fetchDictionaries(rows)
            guard !found.isEmpty, let total = try engine.fetchDictionaries(totals).first else { return }
            found = found.map { $0.merging(total) { own, _ in own } }
        }
        if try !engine.readingOneState(read) { try read() }
        return found
    }
}

extension FetchColumn {
    /// The column as an expression.
    package var tree: ExpressionTree {
        switch self {
        case .keyPath(let path): .keyPath(path.split(separator: ".").map(String.init))
        case .expression(_, let expression, _): expressionTree(of: expression)
        }
    }

    /// Whether it is the same for all objects, because it is computed of all of them.
    fileprivate func isTotal(of entity: EntityLayout) -> Bool {
        let computed = tree.aggregating(over: [], of: entity)
        return computed != tree && !computed.readsObject
    }
}

extension ExpressionTree {
    /// Whether it names the object or a property of it.
    fileprivate var readsObject: Bool {
        var reads = false
        forEach {
            switch $0 {
            case .keyPath, .evaluatedObject: reads = true
            default: break
            }
        }
        return reads
    }
}

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
        return keyed.sorted { left, right in
            for (place, term) in terms.enumerated() {
                let order = term.comparison.compare(left.1[place], right.1[place])
                if order != .orderedSame { return term.ascending == (order == .orderedAscending) }
            }
            return false
        }.map(\.0)
    }
}
