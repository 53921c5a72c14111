import CoreData
import StoreEngine

/// The result of a query, written as it is read.
package struct QueryOutput {
    /// How many rows of a table determine its widths.
    private static let first = 500

    private let store: DirectStore
    private let plan: FetchPlan
    private let columns: RowColumns
    private let isVerbatim: Bool

    /// - Parameters:
    ///   - store: the store.
    ///   - plan: what to fetch.
    ///   - columns: the values to write of each row.
    ///   - isVerbatim: whether cells of CSV are written unchanged; see `RowWriter`.
    package init(_ store: DirectStore, _ plan: FetchPlan, _ columns: RowColumns, isVerbatim: Bool = false) {
        (self.store, self.plan, self.columns, self.isVerbatim) = (store, plan, columns, isVerbatim)
    }

    /// Writes all rows.
    ///
    /// - Parameters:
    ///   - format: the format of the rows.
    ///   - bold: styles the heads of a table.
    ///   - quiet: styles the count below it.
    ///   - output: receives the text in pieces.
    /// - Returns: what was left out since it cannot be read, as a sentence without its final period; nil for nothing.
    /// - Throws: the errors of `output`, and an error for a store that cannot be read.
    package func write(
        _ format: RowFormat, bold: (String) -> String = { $0 }, quiet: (String) -> String = { $0 },
        _ output: (String) throws -> Void
    ) throws -> String? {
        guard format != .table else {
            try writeTable(bold, quiet, output)
            return nil
        }
        var writer = RowWriter(format, columns, isVerbatim: isVerbatim)
        try output(writer.start)
        try forEach { try output(writer.text(of: $0)) }
        try output(writer.end)
        return writer.omission
    }

    private func forEach(_ body: (Row) throws -> Void) throws {
        let portions = try store.asking { try $0.portions(plan) }
        var size = PortionSize()
        while case let rows = try store.asking({ _ in try portions.next(size.count) }), !rows.isEmpty {
            try EndingSignals.check()
            size.follow(rows)
            for row in rows { try body(row) }
        }
    }

    /// Writes a table. The first rows determine the widths of the columns; later cells are cut to fit.
    private func writeTable(
        _ bold: (String) -> String, _ quiet: (String) -> String, _ output: (String) throws -> Void
    ) throws {
        let writer = RowWriter(.table, columns)
        var waiting: [[String]] = []
        var layout: TableLayout?
        var count = 0
        func begin() throws -> TableLayout {
            let made = TableLayout(heads: writer.heads, rows: waiting, numbers: columns.numbers)
            try output(bold(made.line(writer.heads)) + "\n")
            for cells in waiting { try output(made.line(cells) + "\n") }
            waiting = []
            return made
        }
        try forEach { row in
            count += 1
            let cells = writer.cells(of: row).map(TableLayout.part(of:))
            if let layout { return try output(layout.line(cells) + "\n") }
            waiting.append(cells)
            if waiting.count == Self.first { layout = try begin() }
        }
        if layout == nil, count > 0 { _ = try begin() }
        try output(quiet(TextTools.count(count, "object")) + "\n")
    }
}
