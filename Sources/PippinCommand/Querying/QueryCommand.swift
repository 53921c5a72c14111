import CoreData
import StoreReading

/// `pippin query` and `pippin export`: rows are written as they are read.
enum QueryCommand {
    static func run(_ options: QueryOptions, _ terminal: Terminal, _ output: (String) throws -> Void) throws {
        let store = try open(options.store, options.model, options.isInPlace)
        do {
            let plan = try QueryText(options.query).plan(store.layout, sortsByKey: store.pagesByKey)
            let columns =
                try options.columns.map { try RowColumns(of: plan.entity, names: $0) } ?? RowColumns(of: plan.entity)
            try QueryOutput(store, plan, columns, isVerbatim: options.isVerbatim).write(
                options.format, bold: terminal.bold, quiet: terminal.quiet, output)
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
        let rows = QueryOutput(store, plan, RowColumns(of: entity), isVerbatim: options.isVerbatim)
        guard let path = options.output else { return try rows.write(options.format, output) }
        // Only for the bar.
        let total = progress.isSeen ? try store.asking { try $0.fetchCount(plan) } : 0
        try OutputFile.write(to: path) { file in
            var count = 0
            try rows.write(options.format) { text in
                try file(text)
                count += 1
                progress.say(TextTools.count(count, "object"), total == 0 ? nil : Double(count) / Double(total))
            }
        }
        progress.end()
    }

    private static func open(_ path: String, _ model: String?, _ isInPlace: Bool) throws -> DirectStore {
        var opening = DirectStore.Opening(path: path, modelPath: model)
        opening.readsCopy = !isInPlace
        return try DirectStore(opening)
    }
}
