import CoreData
import PredicateFormat

/// The arguments of `pippin search`.
package struct SearchOptions: Equatable {
    package var store: String
    /// What to look for, as it was typed.
    package var query: String
    /// Nil for all entities.
    package var entity: String?
    package var limit = 20
    package var format = RowFormat.table
    package var stemsEnglish = false
    package var model: String?
    package var isInPlace = false

    package init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "search", atMost: .max)
        guard let store = parsed.paths.first, parsed.paths.count > 1 else {
            throw UsageError("search needs a text to look for as well")
        }
        self.store = store
        query = parsed.paths.dropFirst().joined(separator: " ")
        entity = parsed.options["--entity"]
        format = try parsed.format(among: [.table, .json, .jsonl]) ?? .table
        if let text = parsed.options["--limit"] {
            guard let number = Int(text), number > 0 else {
                throw UsageError("--limit takes a number of objects, from 1; “\(text)” is not one")
            }
            limit = number
        }
        model = parsed.options["--model"]
        stemsEnglish = parsed.flags.contains("--english")
        isInPlace = parsed.flags.contains("--in-place")
    }
}

/// `pippin search`: the objects whose texts have some words, best first.
package enum SearchCommand {
    /// - Parameters:
    ///   - options: what to look for, and how to write it.
    ///   - store: the store that the options name, open.
    ///   - terminal: how the output may look.
    ///   - output: takes the text, piece by piece.
    ///   - warn: takes what the output has otherwise than the store, as a sentence without its final period.
    /// - Throws: `CommandError` for an entity that there is not, for a text without a word and, after all was written,
    ///   for what cannot be read; errors of the store.
    package static func run(
        _ options: SearchOptions, in store: DirectStore, _ terminal: Terminal, _ output: (String) throws -> Void,
        warn: (String) -> Void
    ) throws {
        guard !SearchQuery(options.query).isEmpty else {
            throw CommandError(
                "“\(options.query)” has no word to look for: letters or digits are expected, besides what “-” excludes")
        }
        let entity = try options.entity.map(store.entity(named:))
        let search = StoreSearch(store, options.query, stemsEnglish: options.stemsEnglish)
        let result = try search.run(in: entity, limit: options.limit)
        switch options.format {
        case .json:
            let objects = result.hits.map(json)
            try output(objects.isEmpty ? "[]\n" : "[\n  \(objects.joined(separator: ",\n  "))\n]\n")
        case .jsonl: for hit in result.hits { try output(json(hit) + "\n") }
        case .table, .csv: try output(text(result, terminal))
        }
        let omissions = try result.omissions + [store.damage].compactMap { $0 } + store.strangeRows()
        if !omissions.isEmpty { throw CommandError(omissions.joined(separator: "; ")) }
    }

    private static func text(_ result: StoreSearch.Result, _ terminal: Terminal) -> String {
        var text = ""
        for hit in result.hits {
            text += terminal.bold("\(TextTools.inOneLine(hit.identifier.layout.name))/p\(hit.identifier.key)") + "\n"
            let names = hit.excerpts.map { TextTools.inOneLine($0.property) }
            let width = names.map(TextTools.length(of:)).max() ?? 0
            for (name, found) in zip(names, hit.excerpts) {
                text += "  \(terminal.quiet(TextTools.padded(name, width)))  \(marked(found.excerpt, terminal))\n"
            }
        }
        let shown = result.hits.count < result.count ? "\(result.hits.count) of " : ""
        return text + terminal.quiet("\(shown)\(TextTools.count(result.count, "object"))") + "\n"
    }

    /// An excerpt in one line, with brackets around what was found, or in bold.
    private static func marked(_ excerpt: SearchExcerpt, _ terminal: Terminal) -> String {
        let piece = excerpt.text
        var line = excerpt.isCutAtStart ? "…" : ""
        var place = piece.startIndex
        for match in excerpt.matches {
            let found = TextTools.plain(String(piece[match]))
            line += TextTools.plain(String(piece[place..<match.lowerBound]))
            line += terminal.hasColours ? terminal.bold(found) : "[\(found)]"
            place = match.upperBound
        }
        line += TextTools.plain(String(piece[place...]))
        return excerpt.isCutAtEnd ? line + "…" : line
    }

    private static func json(_ hit: StoreSearch.Hit) -> String {
        let excerpts = hit.excerpts.map { property, excerpt in
            // Positions as most programs count: characters of Unicode.
            let scalars = excerpt.text.unicodeScalars
            let matches = excerpt.matches.map { match in
                let start = scalars.distance(from: scalars.startIndex, to: match.lowerBound)
                return "[\(start), \(start + scalars.distance(from: match.lowerBound, to: match.upperBound))]"
            }
            return JSONText.object([
                ("property", JSONText.string(property)), ("text", JSONText.string(excerpt.text)),
                ("matches", "[\(matches.joined(separator: ", "))]"),
            ])
        }
        return JSONText.object([
            ("objectID", JSONText.string(hit.identifier.uriRepresentation().absoluteString)),
            ("entity", JSONText.string(hit.identifier.layout.name)), ("rank", JSONText.number(hit.rank)),
            ("excerpts", "[\(excerpts.joined(separator: ", "))]"),
        ])
    }
}
