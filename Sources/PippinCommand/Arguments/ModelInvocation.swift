import StoreReading

/// What the arguments after `pippin model` ask for, as a value.
enum ModelInvocation: Equatable {
    /// A model file or a store, and the version of it; nil for the current one.
    struct Choice: Equatable {
        var path: String
        var version: String?
    }

    struct ValidateOptions: Equatable {
        var model: String
        /// Nil for all versions.
        var version: String?
        /// Whether a warning fails.
        var isStrict = false
    }

    struct GraphOptions: Equatable {
        var model: Choice
        var format = GraphFormat.dot
        /// Nil for the standard output.
        var output: String?
    }

    struct GenerateOptions: Equatable {
        var model: Choice
        /// The file to write; nil for the standard output.
        var output: String?
        /// The module that the classes are for.
        var module: String?
        /// Whether entities get a class that the model says have theirs already.
        var isForAll = false
    }

    struct SwiftDataOptions: Equatable {
        var model: Choice
        /// The file to write; nil for the standard output.
        var output: String?
    }

    struct CompileOptions: Equatable {
        var source: String
        var output: String
        var module: String?
        /// The models that a mapping model is compiled for; nil for those that it names.
        var from: String?
        var to: String?
    }

    struct ExtractOptions: Equatable {
        var store: String
        var output: String
        /// Whether what is at the output is replaced.
        var isForced = false
    }

    case describe(Choice)
    case validate(ValidateOptions)
    case diff(from: Choice, to: Choice)
    case graph(GraphOptions)
    case generate(GenerateOptions)
    case swiftdata(SwiftDataOptions)
    case compile(CompileOptions)
    case extract(ExtractOptions)

    private static let commands = "describe, validate, diff, graph, generate, swiftdata, compile or extract"

    /// Reads the arguments after `model`.
    ///
    /// - Throws: `UsageError` that says which argument is wrong.
    init(_ arguments: [String]) throws {
        guard let command = arguments.first else {
            throw UsageError("model needs a command; \(Self.commands) expected")
        }
        func parse(_ kind: String = "model", atMost maximum: Int = 1) throws -> ParsedArguments {
            try ParsedArguments(
                Array(arguments.dropFirst()), command: "model \(command)", paths: kind, atMost: maximum)
        }
        func choice(_ parsed: ParsedArguments) -> Choice {
            Choice(path: parsed.path, version: parsed.options["--version"])
        }
        switch command {
        case "describe":
            self = .describe(choice(try parse()))
        case "validate":
            let parsed = try parse()
            self = .validate(
                ValidateOptions(
                    model: parsed.path, version: parsed.options["--version"],
                    isStrict: parsed.flags.contains("--strict")))
        case "diff":
            self = try Self.diff(try parse(atMost: 2))
        case "graph":
            let parsed = try parse()
            self = .graph(
                GraphOptions(
                    model: choice(parsed), format: try Self.format(parsed), output: parsed.options["--output"]))
        case "generate":
            let parsed = try parse()
            self = .generate(
                GenerateOptions(
                    model: choice(parsed), output: parsed.options["--output"], module: parsed.options["--module"],
                    isForAll: parsed.flags.contains("--all")))
        case "swiftdata":
            let parsed = try parse()
            self = .swiftdata(SwiftDataOptions(model: choice(parsed), output: parsed.options["--output"]))
        case "compile":
            let parsed = try parse()
            self = .compile(
                CompileOptions(
                    source: parsed.path, output: try parsed.required("--output", "the file to write"),
                    module: parsed.options["--module"], from: parsed.options["--from"], to: parsed.options["--to"]))
        case "extract":
            let parsed = try parse("store")
            self = .extract(
                ExtractOptions(
                    store: parsed.path,
                    output: try parsed.required("--output", "the .xcdatamodeld or .xcdatamodel to write"),
                    isForced: parsed.flags.contains("--force")))
        default:
            throw UsageError("model has no command “\(command)”; \(Self.commands) expected")
        }
    }

    /// Two models, or two versions of one.
    private static func diff(_ parsed: ParsedArguments) throws -> ModelInvocation {
        let (from, to) = (parsed.options["--from"], parsed.options["--to"])
        guard parsed.paths.count == 2 || from != nil || to != nil else {
            throw UsageError("model diff needs two models, or two versions of one: --from NAME, --to NAME")
        }
        return .diff(
            from: Choice(path: parsed.path, version: from),
            to: Choice(path: parsed.paths.last ?? parsed.path, version: to))
    }

    /// The format that is named, or the one that the output's extension means.
    private static func format(_ parsed: ParsedArguments) throws -> GraphFormat {
        let known = GraphFormat.allCases.map(\.rawValue).joined(separator: ", ")
        if let name = parsed.options["--format"] {
            guard let format = GraphFormat(rawValue: name) else {
                throw UsageError("there is no format “\(name)”; one of \(known) expected")
            }
            guard format != .png || parsed.options["--output"] != nil else {
                throw UsageError("a PNG goes into a file: --output FILE.png")
            }
            return format
        }
        guard let output = parsed.options["--output"] else { return .dot }
        guard let format = GraphFormat(rawValue: String(output.split(separator: ".").last ?? "")) else {
            throw UsageError("“\(output)” does not say which format it shall have; name it with --format \(known)")
        }
        return format
    }
}
