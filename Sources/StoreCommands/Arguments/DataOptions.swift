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
        let parsed = try Self.parsed(arguments)
        (store, query) = (parsed.paths[0], parsed.paths[1])
        format = try parsed.format(among: RowFormat.allCases) ?? .table
        columns = parsed.options["--columns"] == nil ? nil : parsed.list("--columns")
        model = parsed.options["--model"]
        isInPlace = parsed.flags.contains("--in-place")
        isVerbatim = parsed.flags.contains("--verbatim")
    }

    private static func parsed(_ arguments: [String]) throws -> ParsedArguments {
        let all = try ParsedArguments(arguments, command: "query", atMost: .max)
        guard all.paths.count > 2 else {
            return try ParsedArguments(arguments, command: "query", named: ["a store", "a query in quotes"])
        }
        let query = all.paths.dropFirst().joined(separator: " ").replacing("'", with: "\"")
        throw UsageError("the query is one argument, in quotation marks: pippin query STORE '\(query)'")
    }
}

/// `pippin export`.
package struct ExportOptions: Equatable {
    package var store: String
    /// Nil for all entities, each in a file of its own.
    package var entity: String?
    package var format: RowFormat
    /// The file, or the folder for all entities; nil for the standard output.
    package var output: String?
    package var model: String?
    package var isInPlace = false
    package var isVerbatim = false
    /// The manifest of the run to write; nil for none.
    package var evidence: String?

    package init(_ arguments: [String]) throws {
        let isAll = arguments.contains("--all")
        let parsed = try ParsedArguments(
            arguments, command: "export", named: isAll ? ["a store"] : ["a store", "an entity"])
        store = parsed.paths[0]
        entity = isAll ? nil : parsed.paths[1]
        output = parsed.options["--output"]
        guard !isAll || output != nil else {
            throw UsageError("--all writes a file for each entity, and needs a folder for them: --output FOLDER")
        }
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
    /// Whether an object of the store with the same unique values is changed.
    package var isUpdate = false
    /// The properties by the names that the file has for them.
    package var names: [String: String] = [:]
    /// The names in the file that are left out; `*` for all that the entity does not have.
    package var ignored: Set<String> = []

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
        isUpdate = parsed.flags.contains("--update")
        ignored = Set(parsed.list("--ignore"))
        for pair in parsed.list("--map") {
            guard let sign = pair.lastIndex(of: "="), sign != pair.startIndex, pair.index(after: sign) != pair.endIndex
            else { throw UsageError("--map takes NAME=PROPERTY, and not “\(pair)”") }
            names[String(pair[..<sign])] = String(pair[pair.index(after: sign)...])
        }
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
            let all =
                names.count == 1 ? names[0] : names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
            throw UsageError("\(command) takes \(all); “\(paths[names.count])” is one too many")
        }
    }

    /// The names that an option lists, with commas between them.
    func list(_ option: String) -> [String] {
        (options[option] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
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
