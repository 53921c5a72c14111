import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    /// The statement that a fetch of rows runs, and what is done here with the rows that it finds.
    ///
    /// Remarks follow for what the engine evaluates itself (`-- evaluated by Pippin: title LIKE "E*a"`) and for what
    /// takes longer the more rows there are (`-- does not scale: reads all 50000 rows of “book” to find about 3 (…); an
    /// index would find them`).
    func statement(of plan: FetchPlan) throws -> String {
        try run("fetch from") {
            let fetchQuery = try FetchQuery(plan)
            let cached = try cachedFetch(plan, fetchQuery, .rows)
            if cached.isExact {
                let context = BindingContext(
                    arguments: fetchQuery.predicate?.arguments ?? [], limit: plan.limit, offset: plan.offset,
                    store: identity)
                do {
                    let parameters = try ParameterBinder.parameters(cached.sql.bindings, context)
                    let (remarks, _) = try tableRemarks(cached.sql.text, parameters)
                    return ([cached.sql.text] + Self.lines(remarks + requestRemarks(plan, fetchQuery, evaluated: nil)))
                        .joined(separator: "\n")
                } catch is Inexact {}
            }
            return try dividedStatement(of: plan, fetchQuery)
        }
    }

    private func dividedStatement(of plan: FetchPlan, _ fetchQuery: FetchQuery) throws -> String {
        let division = try division(of: fetchQuery.predicate, plan)
        let sortsHere = fetchQuery.order.contains { $0.comparison != .plain }
        let statement = try candidateStatement(plan, division.narrowing, sortedBy: sortsHere ? [] : fetchQuery.order)
        let sql = statement.sql.postgres
        var lines = [sql.text]
        if !division.rest.isEmpty {
            let condition = division.rest.map(\.format).joined(separator: " AND ")
            lines.append("-- evaluated by Pippin: \(Self.oneLine(condition))")
        }
        if sortsHere {
            let order = fetchQuery.order.map {
                "\($0.keyPath.joined(separator: "."))\($0.ascending ? "" : " descending") (\($0.comparison))"
            }
            lines.append("-- sorted by Pippin: \(Self.oneLine(order.joined(separator: ", ")))")
        }
        if plan.limit > 0 || plan.offset > 0 {
            let offset = plan.offset > 0 ? " from number \(plan.offset + 1) on" : ""
            lines.append("-- taken by Pippin: \(plan.limit > 0 ? "\(plan.limit) rows" : "all rows")\(offset)")
        }
        let (remarks, found) = try tableRemarks(
            sql.text, ParameterBinder.parameters(sql.bindings, BindingContext(store: identity)))
        lines += Self.lines(remarks + requestRemarks(plan, fetchQuery, evaluated: division.rest.isEmpty ? nil : found))
        return lines.joined(separator: "\n")
    }

    private static func lines(_ remarks: [String]) -> [String] {
        remarks.map { "-- does not scale: \(oneLine($0))" }
    }

    private func requestRemarks(_ plan: FetchPlan, _ fetchQuery: FetchQuery, evaluated: Double?) -> [String] {
        let lists = (fetchQuery.predicate?.arguments ?? []).map { argument -> Int in
            if case .collection(let elements) = argument { elements.count } else { 0 }
        }
        return ScaleWarnings.remarks(longestList: lists.max() ?? 0, offset: plan.offset, evaluated: evaluated)
    }

    /// What the server would do, without doing it.
    ///
    /// - Returns: remarks about the tables, and how many rows the server estimates.
    private func tableRemarks(
        _ sql: String, _ parameters: PostgresParameters
    ) throws -> (remarks: [String], rows: Double) {
        try snapshot {
            // A statement that cannot be explained is still shown.
            guard
                let plan = try? connection.part({
                    try connection.queryOnce("EXPLAIN (FORMAT JSON) \(sql)", parameters).data(0, 0)
                })
            else { return ([], 0) }
            let readings = ScaleWarnings.wholeReadings(in: plan)
            return (
                ScaleWarnings.remarks(readings, sizes: try sizes(of: readings.map(\.table))),
                readings.map(\.rows).max() ?? 0
            )
        }
    }

    /// The row counts of tables of the store's schema, by the server's statistics.
    private func sizes(of tables: [String]) throws -> [String: (whole: String, rows: Double)] {
        guard !tables.isEmpty else { return [:] }
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        let result = try connection.queryOnce(
            """
            SELECT c.relname, coalesce(w.relname, c.relname), greatest(c.reltuples, 0)::float8 FROM pg_class c \
            JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_inherits h ON h.inhrelid = c.oid \
            LEFT JOIN pg_class w ON w.oid = h.inhparent WHERE n.nspname = $1 AND c.relkind = 'r'
            """, parameters)
        var sizes: [String: (whole: String, rows: Double)] = [:]
        for row in 0..<result.count {
            sizes[result.string(row, 0)] = (result.string(row, 1), result.double(row, 2))
        }
        return sizes
    }

    /// The text on one line, since a line break would end the remark.
    private static func oneLine(_ text: String) -> String {
        text.map { $0.isNewline ? " " : String($0) }.joined()
    }
}
