import CoreDataModel
import PostgresConnection
import PredicateFormat
import StoreEngine

extension OpenDatabase {
    /// The dictionaries of a plan that the database cannot make alone. What it can compute of the objects that are
    /// found here, it does; otherwise columns and groups are computed here, too.
    func evaluatedDictionaries(_ plan: FetchPlan, _ fetchQuery: FetchQuery) throws -> [[String: Any]] {
        do { return try dictionariesOfEvaluated(plan, fetchQuery) } catch let error as PostgresError
            where error.isSyntaxOrTypeError
            || error.isDataError
                && !(error.isOutOfRange && plan.columns.contains(where: \.isAggregate))
        {
            // A column divides by zero for some object, for example, or adds two numbers to one that is wider than
            // their columns. A sum over objects of more than 64 bits stays an error, as in SQLite.
            return try computedDictionaries(plan)
        } catch is Inexact { return try computedDictionaries(plan) }
    }

    private func computedDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] {
        let evaluation = try DictionaryEvaluation(plan.withStoredDates)
        var objects = FetchPlan(entity: plan.entity)
        objects.includesSubentities = plan.includesSubentities
        objects.predicate = plan.predicate
        objects.sortDescriptors = plan.sortDescriptors
        let rows = try evaluatedRows(objects, FetchQuery(objects))
        let graph = EvaluationRows(self)
        let found = try StoreError.evaluating {
            try evaluation.dictionaries(of: graph.operands(for: rows).map { .object($0) })
        }
        if let failure = graph.failure { throw failure }
        return found
    }
}

extension FetchPlan {
    /// The same plan with the dates in its columns and its condition on groups rounded as the database stores them.
    fileprivate var withStoredDates: FetchPlan {
        var plan = self
        plan.columns = columns.map(\.withStoredDates)
        plan.groupColumns = groupColumns.map(\.withStoredDates)
        plan.having = having.map { having in
            (try? predicateTree(of: having)).map { makePredicate($0.withStoredDates) } ?? having
        }
        return plan
    }
}

extension FetchColumn {
    fileprivate var withStoredDates: FetchColumn {
        guard case .expression(let name, let expression, let type) = self else { return self }
        return .expression(name: name, NSExpression(expressionTree(of: expression).withStoredDates), type)
    }
}
