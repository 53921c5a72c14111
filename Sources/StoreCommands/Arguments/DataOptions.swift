import Foundation
import StoreReading

/// `pippin query`.
package struct QueryOptions: Equatable {
    package var store: String
    package var query: String
    package var format = RowFormat.table
    /// Nil for all columns.
    package var columns: [String]?
    package var model: String?
    package var isInPlace = false
    package var isVerbatim = false

    package init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "query", named: ["a store", "a query in quotes"])
        (store, query) = (parsed.paths[0], parsed.paths[1])
        format = try parsed.format(among: RowFormat.allCases) ?? .table
        columns = parsed.options["--columns"]?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        model = parsed.options["--model"]
        isInPlace = parsed.flags.contains("--in-place")
        isVerbatim = parsed.flags.contains("--verbatim")
    }
}

/// `pippin export`.
package struct ExportOptions: Equatable {
    package var store: String
    package var entity: String
    package var format: RowFormat
    /// Nil for the standard output.
    package var output: String?
    package var model: String?
    package var isInPlace = false
    package var isVerbatim = false
    /// The manifest of the run to write; nil for none.
    package var evidence: String?

    package init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "export", named: ["a store", "an entity"])
        (store, entity) = (parsed.paths[0], parsed.paths[1])
        output = parsed.options["--output"]
        format = try parsed.format(among: [.csv, .json, .jsonl]) ?? output.flatMap(RowFormat.init(fileName:)) ?? .csv
        model = parsed.options["--model"]
        isInPlace = parsed.flags.contains("--in-place")
        isVerbatim = parsed.flags.contains("--verbatim")
        evidence = parsed.options["--evidence"]
    }
}

/// `pippin import`.
package struct ImportOptions: Equatable {
    package var store: String
    package var entity: String
    package var file: String
    package var format: RowFormat
    package var model: String?
    package var isVerbatim = false

    package init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "import", named: ["a store", "an entity", "a file"])
        (store, entity, file) = (parsed.paths[0], parsed.paths[1], parsed.paths[2])
        guard let format = try parsed.format(among: [.csv, .json, .jsonl]) ?? RowFormat(fileName: file) else {
            let name = file == "-" ? "the standard input" : "“\(file)”"
            throw UsageError("\(name) does not say what is in it: --format csv, json or jsonl")
        }
        self.format = format
        model = parsed.options["--model"]
        isVerbatim = parsed.flags.contains("--verbatim")
    }
}

extension RowFormat {
    /// What a file's extension says.
    init?(fileName: String) {
        switch fileName.lowercased().split(separator: ".").last {
        case "csv": self = .csv
        case "json": self = .json
        case "jsonl", "ndjson": self = .jsonl
        default: return nil
        }
    }
}

extension ParsedArguments {
    /// Arguments that stand for different things, of which none may be missing.
    init(_ arguments: [String], command: String, named names: [String]) throws {
        try self.init(arguments, command: command, atMost: .max)
        guard paths.count >= names.count else { throw UsageError("\(command) needs \(names[paths.count]) as well") }
        guard paths.count == names.count else {
            let all = names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
            throw UsageError("\(command) takes \(all); “\(paths[names.count])” is one too many")
        }
    }

    /// The format that is named; nil where none is.
    func format(among known: [RowFormat]) throws -> RowFormat? {
        guard let name = options["--format"] else { return nil }
        guard let format = RowFormat(rawValue: name), known.contains(format) else {
            throw UsageError(
                "there is no format “\(name)”; one of \(known.map(\.rawValue).joined(separator: ", ")) expected")
        }
        return format
    }
}
