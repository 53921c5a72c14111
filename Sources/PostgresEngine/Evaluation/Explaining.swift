import CoreDataModel
import Foundation
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

/// Finds, from the server's plan and the request, which parts of a fetch take longer the more rows there are, as
/// remarks for the statement that is shown. Pure.
struct ScaleWarnings {
    /// From how many rows on a table counts as large.
    static let largeTable = 10_000.0
    /// From which fraction of a table's rows on an index would not help.
    private static let many = 0.1
    static let longList = 1000
    static let deepOffset = 1000

    /// A table that is read from end to end.
    struct WholeReading: Equatable {
        let table: String
        /// How many rows are found in it.
        var rows: Double
        /// The condition that each row is compared with; empty for none.
        let filter: String
    }

    /// The full table scans in a plan, from `EXPLAIN (FORMAT JSON)`.
    static func wholeReadings(in plan: Data) -> [WholeReading] {
        guard let list = try? JSONSerialization.jsonObject(with: plan) as? [[String: Any]],
            let root = list.first?["Plan"] as? [String: Any]
        else { return [] }
        var found: [WholeReading] = []
        func visit(_ node: [String: Any]) {
            if node["Node Type"] as? String == "Seq Scan", let table = node["Relation Name"] as? String {
                found.append(
                    WholeReading(
                        table: table, rows: (node["Plan Rows"] as? NSNumber)?.doubleValue ?? 0,
                        filter: node["Filter"] as? String ?? ""))
            }
            for child in node["Plans"] as? [[String: Any]] ?? [] { visit(child) }
        }
        visit(root)
        return found
    }

    /// - Parameters:
    ///   - readings: the full table scans.
    ///   - sizes: by table, the partitioned table that it belongs to, or itself, and how many rows it has.
    /// - Returns: the remarks.
    static func remarks(_ readings: [WholeReading], sizes: [String: (whole: String, rows: Double)]) -> [String] {
        // The parts of one table count as one.
        var (wholes, sums): ([String], [String: (filter: String, found: Double, size: Double)]) = ([], [:])
        for reading in readings where !reading.filter.isEmpty {
            let (whole, size) = sizes[reading.table] ?? (reading.table, 0)
            if sums[whole] == nil { wholes.append(whole) }
            let sum = sums[whole] ?? (reading.filter, 0, 0)
            sums[whole] = (sum.filter, sum.found + reading.rows, sum.size + size)
        }
        return wholes.compactMap { whole in
            guard let sum = sums[whole], sum.size >= largeTable, sum.found < sum.size * many else { return nil }
            return
                "reads all \(Int(sum.size)) rows of “\(whole)” to find about \(Int(sum.found)) (\(sum.filter)); an index would find them"
        }
    }

    /// Remarks about the request itself, whatever the tables hold.
    ///
    /// - Parameters:
    ///   - longestList: the length of the longest list of values in the condition.
    ///   - offset: how many rows are skipped.
    ///   - evaluated: how many rows are read to be evaluated by the program; nil for none.
    /// - Returns: the remarks.
    static func remarks(longestList: Int, offset: Int, evaluated: Double?) -> [String] {
        var remarks: [String] = []
        if longestList > longList {
            remarks.append(
                "a list of \(longestList) values goes to the server each time; ask for a relationship, or in portions")
        }
        if offset > deepOffset {
            remarks.append(
                "the server reads \(offset) rows that are passed over; go on after the last one's value instead")
        }
        if let evaluated, evaluated >= largeTable {
            remarks.append("the program reads about \(Int(evaluated)) rows, and looks at each")
        }
        return remarks
    }
}

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

// Where only the first rows are wanted that satisfy a condition which is evaluated here, the rows are read in portions
// until there are enough.
extension OpenDatabase {
    /// The first portion that is read; each further one is twice as large, up to the greatest.
    private static let firstPortion = 256
    private static let greatestPortion = 16_384

    /// The first rows in the order of the database that satisfy the rest of a predicate.
    ///
    /// - Parameters:
    ///   - count: how many are wanted.
    ///   - statement: finds the rows to check.
    ///   - satisfies: the rows of a portion that satisfy the rest.
    /// - Returns: the rows, as many as wanted or all; nil if the server cannot compute a part of the statement.
    /// - Throws: the server's errors, and those of the evaluation.
    func firstRows(
        _ count: Int, of statement: FetchStatement, _ satisfies: (ContiguousArray<Row>) throws -> ContiguousArray<Row>
    ) throws -> ContiguousArray<Row>? {
        guard connection.isInTransaction, let shape = statement.shape else { return nil }
        let sql = statement.sql.postgres
        do {
            let parameters = try ParameterBinder.parameters(sql.bindings, BindingContext(store: identity))
            guard parameters.count < 65_536 else { return nil }
            return try connection.part {
                let cursor = try RowCursor(self, sql.text, RowReader(shape, readingContext), parameters)
                var found: ContiguousArray<Row> = []
                var portion = max(Self.firstPortion, min(count, Self.greatestPortion))
                while found.count < count, let result = try cursor.nextResult(portion) {
                    found += try satisfies(try cursor.reader.rows(result))
                    portion = min(portion * 2, Self.greatestPortion)
                }
                return found
            }
        } catch is Inexact { return nil } catch let error as PostgresError
            where error.isSyntaxOrTypeError || error.isDataError
        {
            return nil
        }
    }
}
