/// Text in columns: the first to the left, the others to the right.
struct Table {
    private var rows: [[String]]

    init(header: [String]) { rows = [header] }

    mutating func add(_ row: [String]) { rows.append(row) }

    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            zip(row, widths).enumerated().map { index, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return index == 0 ? cell.0 + padding : padding + cell.0
            }.joined(separator: "   ")
        }
        lines.insert(widths.map { String(repeating: "-", count: $0) }.joined(separator: "   "), at: 1)
        return lines.joined(separator: "\n")
    }
}
