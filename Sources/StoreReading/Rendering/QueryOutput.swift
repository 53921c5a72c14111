import CoreData
import StoreEngine

/// What an output has otherwise than the store, as sentences without their final periods.
package struct OutputRemarks {
    /// What was left out since it cannot be read; nil for nothing.
    package var omission: String?
    /// The values that are read as something else than what the file has.
    package var misread: [String] = []

    package init(omission: String? = nil, misread: [String] = []) {
        (self.omission, self.misread) = (omission, misread)
    }
}

/// The result of a query, written as it is read.
package struct QueryOutput {
    /// How many rows of a table determine its widths.
    private static let first = 500

    private let store: DirectStore
    private let plan: FetchPlan
    private let columns: RowColumns
    private let isVerbatim: Bool
    private let found: [NSManagedObjectID]?
    private let style: ValueStyle

    /// - Parameters:
    ///   - store: the store.
    ///   - plan: what to fetch.
    ///   - columns: the values to write of each row.
    ///   - isVerbatim: whether cells of CSV are written unchanged; see `RowWriter`.
    ///   - style: how values are shown, and what is beside them.
    ///   - found: the objects to write instead of those that the plan finds, in their order; nil for these.
    package init(
        _ store: DirectStore, _ plan: FetchPlan, _ columns: RowColumns, isVerbatim: Bool = false,
        style: ValueStyle = ValueStyle(), found: [NSManagedObjectID]? = nil
    ) {
        (self.store, self.plan, self.columns, self.isVerbatim) = (store, plan, columns, isVerbatim)
        (self.style, self.found) = (style, found)
    }

    /// Writes all rows.
    ///
    /// - Parameters:
    ///   - format: the format of the rows.
    ///   - bold: styles the heads of a table.
    ///   - quiet: styles the count below it.
    ///   - output: receives the text in pieces.
    /// - Returns: what the output has otherwise than the store.
    /// - Throws: the errors of `output`, and an error for a store that cannot be read.
    package func write(
        _ format: RowFormat, bold: (String) -> String = { $0 }, quiet: (String) -> String = { $0 },
        _ output: (String) throws -> Void
    ) throws -> OutputRemarks {
        guard format != .table else { return OutputRemarks(misread: try writeTable(bold, quiet, output)) }
        var writer = RowWriter(format, columns, isVerbatim: isVerbatim, style: style, decimals: decimals())
        try output(writer.start)
        let misread = try forEach { try writer.write($0, output) }
        try output(writer.end)
        return OutputRemarks(omission: writer.omission, misread: misread)
    }

    /// How many decimals the dates of each column need, so that all of a column have one width: other programs take a
    /// column of several for texts. That reads the dates once more, and before the first row.
    private func decimals() -> [Int: Int] {
        let entity = columns.entity
        let dates = columns.slots.compactMap { slot -> (slot: Int, epoch: DateEpoch?)? in
            guard let attribute = entity.slots[slot].attribute else { return nil }
            let epoch = style.epochs.epoch(of: attribute.name, in: entity.name)
            return epoch == nil && attribute.type != .dateAttributeType ? nil : (slot, epoch)
        }
        guard !dates.isEmpty else { return [:] }
        var decimals: [Int: Int] = [:]
        // Of a damaged store the dates before the damage count; the rows tell the rest.
        try? store.asking { engine in
            try engine.forEachRow(plan) { row in
                for (slot, epoch) in dates {
                    let number = row.date(at: slot) ?? row.integer(at: slot).map { Double($0) } ?? row.double(at: slot)
                    guard let number else { continue }
                    let date = epoch?.secondsSince2001(number) ?? number
                    decimals[slot] = max(decimals[slot] ?? 0, TextTools.decimals(date))
                }
                return !EndingSignals.haveCome
            }
        }
        return decimals
    }

    /// - Returns: the values that are read as something else than what the file has.
    private func forEach(_ body: (Row) throws -> Void) throws -> [String] {
        var misread = try MisreadRows(store, columns.entity, slots: columns.slots)
        var size = PortionSize()
        func handOut(_ rows: ContiguousArray<Row>) throws {
            try EndingSignals.check()
            size.follow(rows)
            try columns.readRelated(of: rows, in: store)
            for row in rows { try body(row) }
            try misread?.follow(rows)
        }
        if var rest = found?[...] {
            while !rest.isEmpty {
                let next = Array(rest.prefix(size.count))
                rest = rest.dropFirst(next.count)
                try handOut(try store.asking { try $0.rows(for: next) })
            }
            return misread?.texts ?? []
        }
        let portions = try store.asking { try $0.portions(plan) }
        while case let rows = try store.asking({ _ in try portions.next(size.count) }), !rows.isEmpty {
            try handOut(rows)
        }
        return misread?.texts ?? []
    }

    /// Writes a table. The first rows determine the widths of the columns; later cells are cut to fit.
    ///
    /// - Returns: the values that are read as something else than what the file has.
    private func writeTable(
        _ bold: (String) -> String, _ quiet: (String) -> String, _ output: (String) throws -> Void
    ) throws -> [String] {
        let writer = RowWriter(.table, columns, style: style)
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
        var misread: [String] = []
        do {
            misread = try forEach { row in
                count += 1
                let cells = writer.cells(of: row).map(TableLayout.part(of:))
                if let layout { return try output(layout.line(cells) + "\n") }
                waiting.append(cells)
                if waiting.count == Self.first { layout = try begin() }
            }
        } catch {
            // What was read before a damaged page is shown.
            if layout == nil, count > 0 { layout = try begin() }
            throw error
        }
        if layout == nil, count > 0 { _ = try begin() }
        try output(quiet(TextTools.count(count, "object")) + "\n")
        return misread
    }
}

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
