import CoreDataModel
import StoreEngine

/// The first rows in the order of a unique attribute, for a database whose unique indexes have NULL last, while NULL
/// comes first in the order.
///
/// Such an index gives the order of the values alone. So the rows without a value and those with one are found apart,
/// each as many as are wanted; the order of these few is that of all. Otherwise each page of a list would read the
/// whole table.
struct FirstInOrder {
    /// The column of the attribute.
    private let column: SQLFragment
    private let isAscending: Bool

    /// Conditions of more segments are not written twice.
    private static let longest = 500

    /// `nil` for a fetch that is not of the first rows in such an order.
    ///
    /// - Parameters:
    ///   - plan: the fetch.
    ///   - result: the kind of result.
    ///   - terms: the order.
    ///   - conditions: the conditions on rows.
    ///   - scope: the rows.
    ///   - generator: makes the column.
    /// - Throws: an `NSError` that names what SQL cannot express.
    init?(
        _ plan: FetchPlan, _ result: FetchResult, sortedBy terms: [SortTerm], _ conditions: [SQLFragment],
        in scope: SQLScope, _ generator: PredicateSQL
    ) throws {
        guard result == .rows || result == .identifiers, plan.limit > 0, plan.offset == 0, !plan.isDistinct,
            plan.groupBy.isEmpty, let first = terms.first, first.comparison == .plain, first.keyPath.count == 1,
            plan.entity.uniquenessConstraints.contains(where: { $0.first == first.keyPath[0] }),
            conditions.reduce(0, { $0 + $1.size(upTo: Self.longest) }) <= Self.longest
        else { return nil }
        let operand = try generator.operand(.keyPath(first.keyPath), in: scope)
        guard operand.isColumn else { return nil }
        (column, isAscending) = (operand.fragment, first.ascending)
    }

    /// The statement.
    ///
    /// - Parameters:
    ///   - selection: what is selected of the rows.
    ///   - conditions: the conditions on rows.
    ///   - terms: the terms of the order.
    ///   - scope: the rows.
    /// - Returns: `SELECT … FROM book t0 WHERE t0._id IN ((SELECT t0._id FROM book t0 WHERE … AND t0.id IS NULL
    ///   ORDER BY … LIMIT ?) UNION ALL (SELECT … AND t0.id IS NOT NULL ORDER BY t0.id, … LIMIT ?)) ORDER BY …
    ///   LIMIT ?`
    func statement(
        _ selection: SQLFragment, where conditions: [SQLFragment], order terms: [SQLFragment], in scope: SQLScope
    ) -> SQLFragment {
        let page = SQLFragment(.page(limit: .limit, offset: nil))
        let key: SQLFragment = "\(.key, of: scope.alias)"
        // The condition of a predicate that stands alone has no parentheses.
        let conditions = conditions.count == 1 ? [conditions[0].inParentheses] : conditions
        func keys(_ condition: SQLFragment, _ order: [SQLFragment]) -> SQLFragment {
            let all: SQLFragment = .joined(conditions + [condition], separator: " AND ")
            let ordered: SQLFragment = order.isEmpty ? "" : " ORDER BY \(.list(order))"
            return "(SELECT \(key) FROM \(scope.from) WHERE \(all)\(ordered)\(page))"
        }
        let rest = Array(terms.dropFirst())
        let value: SQLFragment = isAscending ? column : "\(column) DESC"
        let without = keys("\(column) IS NULL", rest)
        let with = keys("\(column) IS NOT NULL", [value] + rest)
        return
            "SELECT \(selection) FROM \(scope.from) WHERE \(key) IN (\(without) UNION ALL \(with)) ORDER BY \(.list(terms))\(page)"
    }
}
