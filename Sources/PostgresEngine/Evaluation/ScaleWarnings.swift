import Foundation

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
