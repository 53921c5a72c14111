import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

// For what SQL cannot compute exactly: the database narrows the rows down, and the rest is evaluated here on the rows
// that it returns.
extension OpenDatabase {
    /// A predicate as the part that the database answers, and the part that is evaluated here.
    struct Division {
        var narrowing: [PredicateTree] = []
        var rest: [PredicateTree] = []
    }

    /// Divides a predicate along its ANDs.
    func division(of predicate: PreparedPredicate?, _ plan: FetchPlan) throws -> Division {
        var division = Division()
        guard let predicate else { return division }
        for part in predicate.tree.conjuncts {
            if try isExact(part, plan) { division.narrowing.append(part) } else { division.rest.append(part) }
        }
        return division
    }

    private func isExact(_ part: PredicateTree, _ plan: FetchPlan) throws -> Bool {
        var bare = FetchPlan(entity: plan.entity)
        bare.includesSubentities = plan.includesSubentities
        let statement = try FetchSQL(schema: schema, groupsEntities: true).statement(
            bare, result: .identifiers, predicate: part)
        guard statement.sql.isExactInPostgres else { return false }
        do {
            _ = try ParameterBinder.parameters(statement.sql.postgres.bindings, BindingContext())
            return true
        } catch is Inexact { return false }
    }

    /// The rows that a plan finds, with everything that the database cannot compute done here.
    func evaluatedRows(_ plan: FetchPlan, _ fetchQuery: FetchQuery) throws -> ContiguousArray<Row> {
        if let tree = fetchQuery.predicate?.tree {
            if let obstacle = tree.obstacle { throw SQLError.unfit(obstacle) }
            try PredicateKeys.check(tree, of: plan.entity)
        }
        let division = try division(of: fetchQuery.predicate, plan)
        if let first = try firstRows(plan, fetchQuery, division) { return first }
        let (found, rest, sortsHere) = try candidates(plan, fetchQuery, division)
        var rows = found
        let graph = EvaluationRows(self)
        if !rest.isEmpty || sortsHere {
            var operands = graph.operands(for: rows)
            try StoreError.evaluating {
                if !rest.isEmpty {
                    let condition = try aggregating(.and(rest), of: plan.entity, graph)
                    let compiled = CompiledPredicate(condition.withStoredDates)
                    operands = operands.filter { compiled.evaluate($0) }
                }
                if sortsHere { operands = operands.sorted(by: fetchQuery.order) }
            }
            if let failure = graph.failure { throw failure }
            rows = ContiguousArray(operands.compactMap(\.row))
        }
        let remaining = rows.dropFirst(max(0, plan.offset))
        return ContiguousArray(plan.limit > 0 ? remaining.prefix(plan.limit) : remaining)
    }

    /// The rows that a plan with a limit finds, without reading those that come after them; nil if all must be read.
    private func firstRows(
        _ plan: FetchPlan, _ fetchQuery: FetchQuery, _ division: Division
    ) throws -> ContiguousArray<Row>? {
        let (end, isTooLarge) = max(0, plan.offset).addingReportingOverflow(plan.limit)
        let sortsHere = fetchQuery.order.contains { $0.comparison != .plain }
        guard plan.limit > 0, !isTooLarge, !division.rest.isEmpty, !sortsHere else { return nil }
        let all = EvaluationRows(self)
        // Its operands may be parts of the condition.
        defer { withExtendedLifetime(all) {} }
        let condition = try aggregating(.and(division.rest), of: plan.entity, all)
        let compiled = CompiledPredicate(condition.withStoredDates)
        let statement = try candidateStatement(plan, division.narrowing, sortedBy: fetchQuery.order)
        let found = try firstRows(end, of: statement) { rows in
            let graph = EvaluationRows(self)
            let operands = graph.operands(for: rows)
            let satisfying = try StoreError.evaluating { operands.filter { compiled.evaluate($0) } }
            if let failure = graph.failure { throw failure }
            return ContiguousArray(satisfying.compactMap(\.row))
        }
        return found.map { ContiguousArray($0.prefix(end).dropFirst(max(0, plan.offset))) }
    }

    /// The predicate with values in place of `max(age)` and the like, which are computed over all objects of the
    /// entity.
    private func aggregating(
        _ predicate: PredicateTree, of entity: EntityLayout, _ graph: EvaluationRows
    ) throws -> PredicateTree {
        guard predicate.aggregatesObjects(of: entity) else { return predicate }
        let statement = try candidateStatement(FetchPlan(entity: entity), [], sortedBy: [])
        let sql = statement.sql.postgres
        let result = try connection.part { try connection.query(sql.text, PostgresParameters()) }
        let rows = try statement.shape.map { try RowReader($0, readingContext).rows(result) } ?? []
        return predicate.aggregating(over: graph.operands(for: rows).map { .object($0) }, of: entity)
    }

    /// The rows that the database returns, the conditions that are still to be checked on them, and whether they are
    /// still to be sorted.
    private func candidates(
        _ plan: FetchPlan, _ fetchQuery: FetchQuery, _ division: Division
    ) throws -> (rows: ContiguousArray<Row>, rest: [PredicateTree], sortsHere: Bool) {
        func fetch(_ narrowing: [PredicateTree], sorted: Bool) throws -> ContiguousArray<Row> {
            let statement = try candidateStatement(plan, narrowing, sortedBy: sorted ? fetchQuery.order : [])
            let sql = statement.sql.postgres
            let parameters = try ParameterBinder.parameters(sql.bindings, BindingContext(store: identity))
            guard parameters.count < 65_536 else { throw Inexact() }
            let result = try connection.part { try connection.query(sql.text, parameters) }
            return try statement.shape.map { try RowReader($0, readingContext).rows(result) } ?? []
        }
        let sortsHere = fetchQuery.order.contains { $0.comparison != .plain }
        do {
            return (try fetch(division.narrowing, sorted: !sortsHere), division.rest, sortsHere)
        } catch let error as PostgresError where error.isSyntaxOrTypeError || error.isDataError {
            // The server should have answered the query, but cannot compute some part of it, or what it sorts by.
        } catch is Inexact {}
        return (try fetch([], sorted: false), division.narrowing + division.rest, !fetchQuery.order.isEmpty)
    }

    /// The statement that finds the rows for a part of a predicate.
    func candidateStatement(
        _ plan: FetchPlan, _ narrowing: [PredicateTree], sortedBy order: [SortTerm]
    ) throws -> FetchStatement {
        var bare = FetchPlan(entity: plan.entity)
        bare.includesSubentities = plan.includesSubentities
        return try FetchSQL(schema: schema, groupsEntities: true).statement(
            bare, result: .rows, predicate: narrowing.isEmpty ? nil : .and(narrowing), sortTerms: order)
    }

    /// The dictionaries of a plan whose predicate or order the database cannot compute: made of objects that are found
    /// here. Of equal ones, the first stays if each is wanted once only.
    ///
    /// - Throws: `Inexact` if the database cannot compute a column, or the condition on groups, either.
    func dictionariesOfEvaluated(_ plan: FetchPlan, _ fetchQuery: FetchQuery) throws -> [[String: Any]] {
        var objects = FetchPlan(entity: plan.entity)
        objects.includesSubentities = plan.includesSubentities
        objects.predicate = plan.predicate
        let isGrouped = !plan.groupBy.isEmpty || plan.columns.contains(where: \.isAggregate)
        if !isGrouped { objects.sortDescriptors = plan.sortDescriptors }
        if !isGrouped, !plan.isDistinct { (objects.limit, objects.offset) = (plan.limit, plan.offset) }
        let keys = try evaluatedRows(objects, fetchQuery).map(\.objectID.key)

        var rest = plan
        rest.predicate = nil
        if !isGrouped {
            (rest.limit, rest.offset) = (0, 0)
            (rest.sortDescriptors, rest.isDistinct) = ([], false)
            rest.columns.append(
                .expression(name: Self.keyColumn, NSExpression.expressionForEvaluatedObject(), .objectIDAttributeType))
        }
        let sortsGroups = isGrouped && fetchQuery.order.contains { $0.comparison != .plain }
        let groupOrder = sortsGroups ? GroupOrder(fetchQuery.order) : nil
        if let groupOrder {
            (rest.limit, rest.offset) = (0, 0)
            (rest.sortDescriptors, rest.isDistinct) = ([], false)
            rest.columns += groupOrder.columns
        }
        let restQuery = try FetchQuery(rest)
        let statement = try FetchSQL(schema: schema, groupsEntities: true).statement(
            rest, result: .dictionaries, sortTerms: restQuery.order, having: restQuery.having,
            restriction: { "\(.key, of: $0) = ANY(\(binding: .given(0)))" })
        guard statement.sql.isExactInPostgres else { throw Inexact() }
        let context = BindingContext(limit: rest.limit, offset: rest.offset, store: identity)
        let result = try connection.part {
            try query(statement.sql, context, given: [{ $0.append(array: keys) }])
        }
        let found = try dictionaries(result, statement.columns)
        if let groupOrder {
            let groups = groupOrder.sorted(found)
            let remaining = (plan.isDistinct ? Self.different(groups) : groups).dropFirst(max(0, plan.offset))
            return Array(plan.limit > 0 ? remaining.prefix(plan.limit) : remaining)
        }
        guard !isGrouped else { return found }
        var byKey: [Int64: [String: Any]] = [:]
        for var dictionary in found {
            guard let identifier = dictionary.removeValue(forKey: Self.keyColumn) as? NSManagedObjectID else {
                continue
            }
            byKey[identifier.key] = dictionary
        }
        let all = keys.compactMap { byKey[$0] }
        guard plan.isDistinct else { return all }
        let different = Self.different(all).dropFirst(max(0, plan.offset))
        return Array(plan.limit > 0 ? different.prefix(plan.limit) : different)
    }

    /// The dictionaries without those that equal one before them. They are compared as in predicates: Foundation on
    /// Linux cannot hash an `NSDecimalNumber`.
    private static func different(_ dictionaries: [[String: Any]]) -> [[String: Any]] {
        var known: Set<[String: Value]> = []
        return dictionaries.filter { known.insert($0.mapValues { Value($0) }).inserted }
    }

    /// The name of the key's column; no property can have it.
    private static let keyColumn = "\u{0}key"
}

extension FetchColumn {
    /// Whether the value is computed from many rows.
    var isAggregate: Bool {
        guard case .expression(_, let expression, _) = self,
            case .function(let function, _) = expressionTree(of: expression)
        else { return false }
        return function.takesCollection
    }
}

extension PredicateTree {
    /// The same tree with dates rounded as the database stores them, so that a date equals the one that was stored from
    /// it. JSON has all digits of a date.
    var withStoredDates: PredicateTree {
        mapComparisons { comparison in
            if comparison.left.isListOfDates || comparison.right.isListOfDates { return .comparison(comparison) }
            var comparison = comparison
            comparison.left = comparison.left.withStoredDates
            comparison.right = comparison.right.withStoredDates
            return .comparison(comparison)
        }
    }
}

extension ExpressionTree {
    fileprivate var isListOfDates: Bool { if case .listed(_, .date) = self { true } else { false } }

    var withStoredDates: ExpressionTree {
        if case .constant(.date(let date)) = self {
            let seconds = Timestamp.rounded(date.timeIntervalSinceReferenceDate)
            return .constant(.date(Date(timeIntervalSinceReferenceDate: seconds)))
        }
        // The variable is a date of the list.
        if case .subquery(of: .listed(_, .date), _, _) = self { return self }
        return mapParts(\.withStoredDates, predicates: \.withStoredDates)
    }
}

/// An order of groups that the database does not have, such as one by the rules of a language.
struct GroupOrder {
    private let terms: [SortTerm]
    /// The columns of what is compared.
    let columns: [FetchColumn]

    init(_ terms: [SortTerm]) {
        self.terms = terms
        columns = terms.enumerated().map { index, term in
            let key = NSExpression(forKeyPath: term.keyPath.joined(separator: "."))
            return .expression(name: Self.name(index), key, .undefinedAttributeType)
        }
    }

    /// The column's name; no property can have it.
    private static func name(_ index: Int) -> String { "\u{0}order\(index)" }

    /// The groups in this order, without what was compared.
    func sorted(_ groups: [[String: Any]]) -> [[String: Any]] {
        let names = terms.indices.map(Self.name)
        let rows = groups.map { group in (group: group, values: names.map { Value(group[$0]) }) }
        return rows.sorted { precedes($0.values, $1.values) }.map { row in
            var group = row.group
            for name in names { group[name] = nil }
            return group
        }
    }

    private func precedes(_ first: [Value], _ second: [Value]) -> Bool {
        for (index, term) in terms.enumerated() {
            switch term.comparison.compare(first[index], second[index]) {
            case .orderedAscending: return term.ascending
            case .orderedDescending: return !term.ascending
            case .orderedSame: continue
            }
        }
        return false
    }
}
