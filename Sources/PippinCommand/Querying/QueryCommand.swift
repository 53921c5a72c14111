import CoreData
import StoreReading

/// `pippin query` and `pippin export`: rows are written as they are read.
enum QueryCommand {
    /// How many rows are read at a time.
    private static let portion = 500

    static func run(_ options: QueryOptions, _ terminal: Terminal, _ output: (String) throws -> Void) throws {
        let store = try open(options.store, options.model, options.isInPlace)
        do {
            let plan = try QueryText(options.query).plan(store.layout, sortsByKey: store.pagesByKey)
            let columns =
                try options.columns.map { try RowColumns(of: plan.entity, names: $0) } ?? RowColumns(of: plan.entity)
            if options.format == .table {
                try table(store, plan, columns, terminal, output)
            } else {
                try rows(store, plan, RowWriter(options.format, columns), output)
            }
        } catch let problem as TextProblem {
            throw CommandError(problem.description)
        }
    }

    static func run(_ options: ExportOptions, _ progress: Progress, _ output: (String) throws -> Void) throws {
        let store = try open(options.store, options.model, options.isInPlace)
        guard let entity = store.layout.entityByName[options.entity] else {
            throw CommandError(
                "“\(options.store)” has no entity “\(options.entity)”; it has \(store.layout.entities.map(\.name).joined(separator: ", "))"
            )
        }
        let plan = try QueryText(entity.name).plan(store.layout, sortsByKey: store.pagesByKey)
        let writer = RowWriter(options.format, RowColumns(of: entity))
        guard let path = options.output else { return try rows(store, plan, writer, output) }
        try OutputFile.write(to: path) { file in
            var count = 0
            try rows(store, plan, writer) { text in
                try file(text)
                count += 1
                progress.say(TextTools.count(count, "object"))
            }
        }
        progress.end()
    }

    private static func open(_ path: String, _ model: String?, _ isInPlace: Bool) throws -> DirectStore {
        var opening = DirectStore.Opening(path: path, modelPath: model)
        opening.readsCopy = !isInPlace
        return try DirectStore(opening)
    }

    private static func rows(
        _ store: DirectStore, _ plan: FetchPlan, _ writer: RowWriter, _ output: (String) throws -> Void
    ) throws {
        var writer = writer
        try output(writer.start)
        try forEach(store, plan) { try output(writer.text(of: $0)) }
        try output(writer.end)
    }

    private static func forEach(_ store: DirectStore, _ plan: FetchPlan, _ body: (Row) throws -> Void) throws {
        let portions = try store.asking { try $0.portions(plan) }
        while case let rows = try store.asking({ _ in try portions.next(portion) }), !rows.isEmpty {
            for row in rows { try body(row) }
        }
    }

    /// The first rows say how wide the columns are; those that follow are cut to that.
    private static func table(
        _ store: DirectStore, _ plan: FetchPlan, _ columns: RowColumns, _ terminal: Terminal,
        _ output: (String) throws -> Void
    ) throws {
        let writer = RowWriter(.table, columns)
        var waiting: [[String]] = []
        var layout: TableLayout?
        var count = 0
        func begin() throws -> TableLayout {
            let made = TableLayout(heads: writer.heads, rows: waiting, numbers: columns.numbers)
            try output(terminal.bold(made.line(writer.heads)) + "\n")
            for cells in waiting { try output(made.line(cells) + "\n") }
            waiting = []
            return made
        }
        try forEach(store, plan) { row in
            count += 1
            let cells = writer.cells(of: row)
            if let layout { return try output(layout.line(cells) + "\n") }
            waiting.append(cells)
            if waiting.count == portion { layout = try begin() }
        }
        if layout == nil, count > 0 { _ = try begin() }
        try output(terminal.quiet(TextTools.count(count, "object")) + "\n")
    }
}

/// The widths of a table's columns. Pure.
struct TableLayout {
    private static let widest = 40
    private let widths: [Int]
    private let numbers: Set<Int>

    /// - Parameters:
    ///   - heads: the columns' names.
    ///   - rows: some rows.
    ///   - numbers: the columns whose cells stand at the right.
    init(heads: [String], rows: [[String]], numbers: Set<Int>) {
        widths = heads.indices.map { column in
            min(
                Self.widest,
                max(TextTools.length(of: heads[column]), rows.map { TextTools.length(of: $0[column]) }.max() ?? 0))
        }
        self.numbers = numbers
    }

    func line(_ cells: [String]) -> String {
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
