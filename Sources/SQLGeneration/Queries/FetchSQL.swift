import CoreDataModel
import StoreEngine

/// The kinds of results of a fetch.
package enum FetchResult: Hashable, Sendable {
    case rows, identifiers, count, dictionaries
    /// The values of dictionaries without the rest, for a subquery.
    case values
}

/// A fetch as SQL, and how to read its result.
package struct FetchStatement: Sendable {
    package let sql: SQLFragment
    /// For rows: the positions of the slots.
    package let shape: RowShape?
    /// For dictionaries: how to read each column.
    package let columns: [DictionaryColumn]
    /// Whether an identifier's `Z_ENT` is the second column.
    package let selectsEntity: Bool
    /// Whether the text serves every predicate of the same skeleton; false if it contains the text of another request.
    package let isReusable: Bool
}

/// Turns fetches into SQL. Pure.
package struct FetchSQL {
    package let schema: SQLSchema
    /// Whether everything that is selected of a group must be in GROUP BY, as the standard requires, including the
    /// numbers of objects' entities.
    private let groupsEntities: Bool
    /// Whether unique indexes have NULL last, which an order has first.
    private let hasNullLast: Bool

    package init(schema: SQLSchema, groupsEntities: Bool = false, hasNullLast: Bool = false) {
        self.schema = schema
        self.groupsEntities = groupsEntities
        self.hasNullLast = hasNullLast
    }

    /// The statement for a plan.
    ///
    /// - Parameters:
    ///   - plan: the fetch; its predicate and sort descriptors are given separately, as trees.
    ///   - result: the kind of result.
    ///   - predicate: the predicate, with or without its arguments in place.
    ///   - arguments: the predicate's arguments, if they are separate.
    ///   - sortTerms: the order.
    ///   - having: the condition on groups.
    ///   - restriction: a further condition on the rows, made from their alias.
    /// - Returns: the statement, with its arguments.
    /// - Throws: an `NSError` that names what SQL cannot express.
    package func statement(
        _ plan: FetchPlan, result: FetchResult, predicate: PredicateTree? = nil, arguments: [Value] = [],
        sortTerms: [SortTerm] = [], having: PredicateTree? = nil, restriction: ((String) -> SQLFragment)? = nil
    ) throws -> FetchStatement {
        let mapping = try schema.neededMapping(of: plan.entity)
        let generator = PredicateSQL(schema: schema, arguments: arguments)
        let groupGenerator = PredicateSQL(schema: schema, arguments: arguments, aggregatesGroups: true)
        let scope = SQLScope(mapping: mapping, names: AliasNames())
        let mappings = plan.entities.compactMap { schema.mapping(of: $0) }
        if let predicate { scope.names.length.allow(for: predicate, arguments, in: schema.layout) }
        if generator.stopsAtLimit(plan, sortedBy: result == .count ? [] : sortTerms, in: scope) {
            scope.names.asked = .some
        }
        let selection = try selection(plan, result, mappings, groupGenerator, in: scope)
        let conditions = try conditions(plan, mapping, generator, predicate, restriction, in: scope)
        var groups = try plan.groupBy.map { key in
            try groupGenerator.operand(plan.tree(ofColumn: key), in: scope).fragment
        }
        if groupsEntities, !groups.isEmpty { groups += selection.entities }
        let havingCondition = try having.map {
            try groupGenerator.condition(plan.resolvingColumns(in: $0), in: scope).fragment
        }
        let order = result == .count ? [] : try generator.orderTerms(sortTerms, in: scope)
        let first =
            hasNullLast ? try FirstInOrder(plan, result, sortedBy: sortTerms, conditions, in: scope, generator) : nil

        // The joins are known only once everything else has been generated.
        let sql: SQLFragment
        if let first {
            sql = first.statement(selection.sql, where: conditions, order: order, in: scope)
        } else {
            let distinct: SQLFragment = plan.isDistinct && !selection.columns.isEmpty ? "DISTINCT " : ""
            var clauses: SQLFragment = "SELECT \(distinct)\(selection.sql) FROM \(scope.from)"
            if !conditions.isEmpty { clauses = "\(clauses) WHERE \(.joined(conditions, separator: " AND "))" }
            if !groups.isEmpty { clauses = "\(clauses) GROUP BY \(.list(groups))" }
            if let havingCondition { clauses = "\(clauses) HAVING \(havingCondition)" }
            if !order.isEmpty { clauses = "\(clauses) ORDER BY \(.list(order))" }
            sql = paged(clauses, plan, result)
        }
        return FetchStatement(
            sql: sql, shape: selection.shape, columns: selection.columns, selectsEntity: mapping.sharesTable,
            isReusable: scope.names.isReusable)
    }

    /// A statement with the plan's limit and offset, if there are any.
    private func paged(_ sql: SQLFragment, _ plan: FetchPlan, _ result: FetchResult) -> SQLFragment {
        guard plan.limit > 0 || plan.offset > 0 else { return sql }
        let page = sql + SQLFragment(.page(limit: .limit, offset: plan.offset > 0 ? .offset : nil))
        return result == .count ? "SELECT COUNT(*) FROM \(.select(page))" : page
    }

    /// The part of a statement after `SELECT`, and how its results are read.
    private struct Selection {
        var sql: SQLFragment
        /// For rows: the shape of a row.
        var shape: RowShape?
        /// For dictionaries and values: the columns.
        var columns: [DictionaryColumn] = []
        /// For dictionaries and values: the columns with the numbers of entities.
        var entities: [SQLFragment] = []
    }

    private func selection(
        _ plan: FetchPlan, _ result: FetchResult, _ mappings: [EntityMapping], _ generator: PredicateSQL,
        in scope: SQLScope
    ) throws -> Selection {
        switch result {
        case .rows:
            let shape = RowShape(mappings)
            return Selection(sql: shape.selection(alias: scope.alias), shape: shape)
        case .identifiers:
            let key: SQLFragment = "\(.key, of: scope.alias)"
            return Selection(sql: scope.mapping.sharesTable ? "\(key), \(.entity, of: scope.alias)" : key)
        case .count: return Selection(sql: plan.limit > 0 || plan.offset > 0 ? "1" : "COUNT(*)")
        case .dictionaries, .values:
            let (sql, columns, entities) = try generator.columns(
                plan, ofDictionaries: result == .dictionaries, in: scope)
            return Selection(sql: sql, columns: columns, entities: entities)
        }
    }

    /// The conditions on rows, which the `WHERE` clause combines by AND.
    private func conditions(
        _ plan: FetchPlan, _ mapping: EntityMapping, _ generator: PredicateSQL, _ predicate: PredicateTree?,
        _ restriction: ((String) -> SQLFragment)?, in scope: SQLScope
    ) throws -> [SQLFragment] {
        var conditions: [SQLFragment] = []
        if let filter = mapping.filter(includesSubentities: plan.includesSubentities, alias: scope.alias) {
            conditions.append(filter)
        }
        if let predicate, predicate != .constant(true) {
            let condition = try generator.condition(predicate, in: scope)
            // A single condition in the WHERE clause needs no parentheses.
            conditions.append(conditions.isEmpty && restriction == nil ? condition.fragment : condition.part)
        }
        if let restriction { conditions.append(restriction(scope.alias)) }
        return conditions
    }
}

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
