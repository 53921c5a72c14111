import CoreData

/// `pippin query` and `pippin export`: rows are written as they are read.
package enum QueryCommand {
    /// - Parameters:
    ///   - options: what to look for, and how to write it.
    ///   - store: the store that the options name, open.
    ///   - terminal: how the output may look.
    ///   - output: takes the text, piece by piece.
    ///   - warn: takes what the output has otherwise than the store, as a sentence without its final period.
    /// - Throws: `CommandError` that marks what is wrong with the query, or, after all was written, names what cannot
    ///   be read; errors of the store.
    package static func run(
        _ options: QueryOptions, in store: DirectStore, _ terminal: Terminal, _ output: (String) throws -> Void,
        warn: (String) -> Void
    ) throws {
        do {
            let query = try QueryText(options.query)
            if let groups = try GroupedQuery(query, in: store) {
                guard options.columns == nil else {
                    throw CommandError("--columns chooses properties of objects; groups name theirs after “group by”")
                }
                return try groups.write(
                    options.format, isVerbatim: options.isVerbatim, bold: terminal.bold, quiet: terminal.quiet, output)
            }
            let plan = try query.plan(in: store)
            let found = try StoreSearch.objects(query, plan, in: store)
            let columns =
                try options.columns.map { try RowColumns(of: plan.entity, names: $0) } ?? RowColumns(of: plan.entity)
            let remarks = try QueryOutput(
                store, plan, columns, isVerbatim: options.isVerbatim, style: options.style, found: found
            ).write(
                options.format, bold: terminal.bold, quiet: terminal.quiet, output)
            try complain(remarks, store, plan.entity, warn)
        } catch let problem as TextProblem {
            throw CommandError(problem.description)
        }
    }

    /// - Parameters:
    ///   - options: what to write, and where.
    ///   - store: the store that the options name, open.
    ///   - progress: says how far it is.
    ///   - output: takes the text where no file is named.
    ///   - warn: takes what the output has otherwise than the store, as a sentence without its final period.
    /// - Throws: `CommandError` for an entity that there is not and for a file that cannot be written; after all was
    ///   written, for values that cannot be read; and errors of the store.
    package static func run(
        _ options: ExportOptions, in store: DirectStore, _ progress: ProgressLine, _ output: (String) throws -> Void,
        warn: (String) -> Void
    ) throws {
        guard let name = options.entity else { return try exportAll(options, in: store, progress, output, warn: warn) }
        try export(store.entity(named: name), to: options.output, options, in: store, progress, output, warn: warn)
    }

    /// Writes a file for each entity that has objects of its own, with these alone.
    private static func exportAll(
        _ options: ExportOptions, in store: DirectStore, _ progress: ProgressLine, _ output: (String) throws -> Void,
        warn: (String) -> Void
    ) throws {
        let folder = options.output ?? "."
        do { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) } catch {
            throw CommandError("“\(folder)” cannot be made: \(error.localizedDescription)")
        }
        var files: Set<String> = []
        var gaps: [String] = []
        for entity in store.layout.entities where !entity.isAbstract {
            let file = fileName(entity.name, options.format, besides: &files)
            do {
                try export(
                    entity, to: "\(folder)/\(file)", options, isAlone: true, in: store, progress, output, warn: warn)
            } catch let error as CommandError { gaps.append("\(file): \(error.message)") }
            try output("\(file)\n")
        }
        if !gaps.isEmpty { throw CommandError(gaps.joined(separator: "; ")) }
    }

    /// The name of an entity's file: the entity's, without what leads out of the folder or hides the file.
    private static func fileName(_ entity: String, _ format: RowFormat, besides files: inout Set<String>) -> String {
        var name = String(
            entity.map { $0 == "/" || $0.isNewline || $0.asciiValue.map { $0 < 0x20 } ?? false ? "_" : $0 })
        if name.hasPrefix(".") { name = "_" + name.dropFirst() }
        while !files.insert(name.lowercased()).inserted { name += "_" }
        return "\(name).\(format.rawValue)"
    }

    private static func export(
        _ entity: EntityLayout, to path: String?, _ options: ExportOptions, isAlone: Bool = false,
        in store: DirectStore, _ progress: ProgressLine, _ output: (String) throws -> Void, warn: (String) -> Void
    ) throws {
        var plan = try QueryText(entity.name).plan(in: store)
        plan.includesSubentities = !isAlone
        let rows = QueryOutput(
            store, plan, RowColumns(of: entity), isVerbatim: options.isVerbatim, style: options.style)
        guard let path else {
            return try complain(rows.write(options.format, output), store, entity, warn)
        }
        // Only for the bar.
        let total = progress.isSeen ? try store.asking { try $0.fetchCount(plan) } : 0
        var remarks = OutputRemarks()
        try OutputFile.write(to: path) { file in
            var count = 0
            remarks = try rows.write(options.format) { text in
                try file(text)
                count += 1
                progress.say(TextTools.count(count, "object"), total == 0 ? nil : Double(count) / Double(total))
            }
        }
        progress.end()
        try complain(remarks, store, entity, warn)
    }

    /// Warns of what is shown otherwise than it is stored, and names what is left out: values that cannot be read, and
    /// rows that are of no entity.
    private static func complain(
        _ remarks: OutputRemarks, _ store: DirectStore, _ entity: EntityLayout, _ warn: (String) -> Void
    ) throws {
        for text in remarks.misread { warn(text) }
        let all = try [remarks.omission, store.damage].compactMap { $0 } + store.strangeRows(besides: entity)
        if !all.isEmpty { throw CommandError(all.joined(separator: "; ")) }
    }
}

extension DirectStore {
    /// The entity with a name that the user typed.
    ///
    /// - Throws: `CommandError` that names those that there are.
    func entity(named name: String) throws -> EntityLayout {
        if let entity = layout.entity(typed: name) { return entity }
        let hint = TextProblem.hint(for: name, among: layout.entities.map(\.name))
        throw CommandError("“\(self.name)” has no entity “\(name)”; \(hint)")
    }
}
