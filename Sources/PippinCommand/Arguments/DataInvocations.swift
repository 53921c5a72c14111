import StoreReading

/// `pippin query`.
struct QueryOptions: Equatable {
    var store: String
    var query: String
    var format = RowFormat.table
    /// Nil for all columns.
    var columns: [String]?
    var model: String?
    var isInPlace = false
    var isVerbatim = false

    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(
            arguments, command: "query", flags: ["--in-place", "--verbatim"],
            options: ["--format", "--columns", "--model"],
            named: ["a store", "a query"])
        (store, query) = (parsed.paths[0], parsed.paths[1])
        format = try parsed.format(among: RowFormat.allCases) ?? .table
        columns = parsed.options["--columns"]?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        model = parsed.options["--model"]
        isInPlace = parsed.flags.contains("--in-place")
        isVerbatim = parsed.flags.contains("--verbatim")
    }
}

/// `pippin export`.
struct ExportOptions: Equatable {
    var store: String
    var entity: String
    var format: RowFormat
    /// Nil for the standard output.
    var output: String?
    var model: String?
    var isInPlace = false
    var isVerbatim = false

    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(
            arguments, command: "export", flags: ["--in-place", "--verbatim"],
            options: ["--format", "--output", "--model"],
            named: ["a store", "an entity"])
        (store, entity) = (parsed.paths[0], parsed.paths[1])
        output = parsed.options["--output"]
        format = try parsed.format(among: [.csv, .json, .jsonl]) ?? output.flatMap(RowFormat.init(fileName:)) ?? .csv
        model = parsed.options["--model"]
        isInPlace = parsed.flags.contains("--in-place")
        isVerbatim = parsed.flags.contains("--verbatim")
    }
}

/// `pippin import`.
struct ImportOptions: Equatable {
    var store: String
    var entity: String
    var file: String
    var format: RowFormat
    var model: String?
    var isVerbatim = false

    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(
            arguments, command: "import", flags: ["--verbatim"], options: ["--format", "--model"],
            named: ["a store", "an entity", "a file"])
        (store, entity, file) = (parsed.paths[0], parsed.paths[1], parsed.paths[2])
        guard let format = try parsed.format(among: [.csv, .json, .jsonl]) ?? RowFormat(fileName: file) else {
            throw UsageError("“\(file)” does not say what is in it: --format csv, json or jsonl")
        }
        self.format = format
        model = parsed.options["--model"]
        isVerbatim = parsed.flags.contains("--verbatim")
    }
}

/// `pippin check`.
struct CheckOptions: Equatable {
    var store: String
    /// The mended copy to write; nil to look only.
    var copy: String?
    var model: String?

    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "check", flags: [], options: ["--repair", "--model"])
        (store, copy, model) = (parsed.store, parsed.options["--repair"], parsed.options["--model"])
    }
}

/// `pippin report`.
struct ReportOptions: Equatable {
    var store: String
    var output: String
    var model: String?

    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(
            arguments.map { $0 == "-o" ? "--output" : $0 }, command: "report", flags: [],
            options: ["--output", "--model"])
        (store, model) = (parsed.store, parsed.options["--model"])
        output = try parsed.required("--output", "the page to write")
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
    init(
        _ arguments: [String], command: String, flags: Set<String>, options: Set<String>, named names: [String]
    ) throws {
        try self.init(arguments, command: command, flags: flags, options: options, atMost: names.count)
        guard paths.count == names.count else { throw UsageError("\(command) needs \(names[paths.count]) as well") }
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
