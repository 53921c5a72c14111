import CoreData
import StoreReading

/// `pippin check`: what is wrong with a store, and a copy in which it is mended.
enum CheckCommand {
    /// Something is wrong.
    static let wrong: Int32 = 3

    static func run(
        _ options: CheckOptions, _ terminal: Terminal, _ progress: ProgressLine, _ output: (String) throws -> Void
    ) throws -> Int32 {
        let (problems, gaps, gap) = try problems(of: options.store, options.model, progress)
        try output(text(problems, of: options.store, terminal))
        // Numbers without objects are not a mistake: objects are deleted.
        try output(gaps.map { "  \(TextTools.padded("deleted", 11))\($0.text())\n" }.joined())
        if let gap { try output("  not checked: what only its model says. \(TextTools.plainLines(gap))\n") }
        guard let copy = options.copy else { return problems.isEmpty ? 0 : wrong }
        let done = try StoreRepair.repair(options.store, into: copy, model: options.model)
        try output("\n“\(copy)” was written.\n" + done.map { "  \($0)\n" }.joined())
        let rest = try self.problems(of: copy, options.model, progress).found
        try output("\n" + text(rest, of: copy, terminal))
        return rest.isEmpty ? 0 : wrong
    }

    /// What is wrong, the numbers that no object has, and what is not known without the store's own model.
    private static func problems(
        of path: String, _ model: String?, _ progress: ProgressLine
    ) throws -> (found: [StoreCheck.Problem], gaps: [KeyGaps], gap: String?) {
        defer { progress.end() }
        var opening = DirectStore.Opening(path: path, modelPath: model)
        opening.readsCopy = true
        let store: DirectStore
        do { store = try DirectStore(opening) } catch {
            // A damaged file often cannot be opened as a store. The damage is the problem to report then.
            let found = StoreCheck.damage(of: URL(store: path))
            guard !found.isEmpty else { throw error }
            return (found, [], nil)
        }
        guard let file = store.file else { return ([], [], store.modelGap) }
        let check = try StoreCheck(of: file, store) { progress.say("looking at \($0) …") }
        let gaps = store.pagesByKey ? DatabasePages(path: file.path).map { KeyGaps.all(in: $0) } ?? [] : []
        return (check.problems, gaps, store.modelGap)
    }

    /// The problems as text. Pure.
    static func text(_ problems: [StoreCheck.Problem], of path: String, _ terminal: Terminal) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        if problems.isEmpty { return "\(name): \(terminal.good("nothing is wrong"))\n" }
        let lines = problems.map { "  \(TextTools.padded($0.kind.rawValue, 11))\($0.text)\n" }
        return
            "\(name): \(terminal.bad(problems.count == 1 ? "one thing is wrong" : "\(problems.count) things are wrong"))\n"
            + lines.joined()
    }
}
