/// The widths of a table's columns. Pure.
package struct TableLayout {
    private static let widest = 40
    private let widths: [Int]
    private let numbers: Set<Int>

    /// - Parameters:
    ///   - heads: the columns' names.
    ///   - rows: some rows.
    ///   - numbers: the columns whose cells are right-aligned.
    package init(heads: [String], rows: [[String]], numbers: Set<Int>) {
        widths = heads.indices.map { column in
            min(
                Self.widest,
                max(TextTools.length(of: heads[column]), rows.map { TextTools.length(of: $0[column]) }.max() ?? 0))
        }
        self.numbers = numbers
    }

    /// As much of a cell as a line shows of it, so that large values are not kept until the widths are known.
    static func part(of cell: String) -> String {
        cell.utf8.count <= widest ? cell : String(cell.prefix(widest + 1))
    }

    package func line(_ cells: [String]) -> String {
        var line = ""
        for (index, (cell, width)) in zip(cells, widths).enumerated() {
            if index > 0 { line += "  " }
            let length = TextTools.length(of: cell)
            let padding = String(repeating: " ", count: max(0, width - length))
            if numbers.contains(index) { line += padding }
            line += length > width ? cell.prefix(width - 1) + "…" : cell[...]
            if !numbers.contains(index), index < widths.count - 1 { line += padding }
        }
        while line.utf8.last == UInt8(ascii: " ") { line.unicodeScalars.removeLast() }
        return line
    }
}
