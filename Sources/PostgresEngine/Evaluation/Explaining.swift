import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    /// The statement that a fetch of rows runs, and what is done here with the rows that it finds.
    ///
    /// What the engine evaluates follows as remarks: `-- evaluated by Pippin: title LIKE "E*a"`.
    func statement(of plan: FetchPlan) throws -> String {
        try run("fetch from") {
            let question = try Question(plan)
            let cached = try cachedFetch(plan, question, .rows)
            if cached.isExact {
                let context = BindingContext(
                    arguments: question.predicate?.arguments ?? [], limit: plan.limit, offset: plan.offset)
                do {
                    _ = try ParameterBinder.parameters(cached.sql.bindings, context)
                    return cached.sql.text
                } catch is Inexact {}
            }
            return try dividedStatement(of: plan, question)
        }
    }

    private func dividedStatement(of plan: FetchPlan, _ question: Question) throws -> String {
        let division = try division(of: question.predicate, plan)
        let sortsHere = question.order.contains { $0.comparison != .plain }
        let statement = try candidateStatement(plan, division.narrowing, sortedBy: sortsHere ? [] : question.order)
        var lines = [statement.sql.postgres.text]
        if !division.rest.isEmpty {
            let condition = division.rest.map(\.format).joined(separator: " AND ")
            lines.append("-- evaluated by Pippin: \(Self.oneLine(condition))")
        }
        if sortsHere {
            let order = question.order.map {
                "\($0.keyPath.joined(separator: "."))\($0.ascending ? "" : " descending") (\($0.comparison))"
            }
            lines.append("-- sorted by Pippin: \(Self.oneLine(order.joined(separator: ", ")))")
        }
        if plan.limit > 0 || plan.offset > 0 {
            let offset = plan.offset > 0 ? " from number \(plan.offset + 1) on" : ""
            lines.append("-- taken by Pippin: \(plan.limit > 0 ? "\(plan.limit) rows" : "all rows")\(offset)")
        }
        return lines.joined(separator: "\n")
    }

    /// Nothing in a remark may end it.
    private static func oneLine(_ text: String) -> String {
        text.map { $0.isNewline ? " " : String($0) }.joined()
    }
}
