/// What the arguments ask for, as a value.
enum Invocation: Equatable {
    struct InfoOptions: Equatable {
        var store: String
        var model: String?
    }

    struct DumpOptions: Equatable {
        var store: String
        var model: String?
        /// Nil for all entities.
        var entity: String?
        var asJSON = false
    }

    struct MigrateOptions: Equatable {
        var store: String
        var model: String
        /// The version of the model; nil for the current one.
        var version: String?
        /// A compiled mapping model to follow; nil to infer one.
        var mapping: String?
        /// A folder of compiled mapping models between the versions of the model; nil for none.
        var mappings: String?
        var isDryRun = false
    }

    case help(HelpTopic)
    case version
    case model(ModelInvocation)
    case migrate(MigrateOptions)
    case info(InfoOptions)
    case dump(DumpOptions)

    /// Reads the arguments, the program's name left out.
    ///
    /// - Throws: `UsageError` that says which argument is wrong.
    init(_ arguments: [String]) throws {
        if arguments.contains("--help") || arguments.contains("-h") || arguments.first == "help" {
            self = .help(HelpTopic(arguments))
            return
        }
        guard let command = arguments.first else {
            throw UsageError("a command is missing; info, dump, migrate or model expected")
        }
        if command == "--version" {
            self = .version
            return
        }
        let rest = Array(arguments.dropFirst())
        switch command {
        case "model":
            self = .model(try ModelInvocation(rest))
        case "info":
            let parsed = try ParsedArguments(rest, command: command, flags: [], options: ["--model"])
            self = .info(InfoOptions(store: parsed.store, model: parsed.options["--model"]))
        case "dump":
            let parsed = try ParsedArguments(
                rest, command: command, flags: ["--json"], options: ["--model", "--entity"])
            self = .dump(
                DumpOptions(
                    store: parsed.store, model: parsed.options["--model"], entity: parsed.options["--entity"],
                    asJSON: parsed.flags.contains("--json")))
        case "migrate":
            let parsed = try ParsedArguments(
                rest, command: command, flags: ["--dry-run"], options: ["--to", "--version", "--mapping", "--mappings"])
            guard let model = parsed.options["--to"] else {
                throw UsageError("migrate needs the model to get to: --to MODEL")
            }
            self = .migrate(
                MigrateOptions(
                    store: parsed.store, model: model, version: parsed.options["--version"],
                    mapping: parsed.options["--mapping"], mappings: parsed.options["--mappings"],
                    isDryRun: parsed.flags.contains("--dry-run")))
        default:
            throw UsageError("there is no command “\(command)”; info, dump, migrate or model expected")
        }
    }
}

/// Arguments that make no sense.
struct UsageError: Error, Equatable {
    let message: String
    init(_ message: String) { self.message = message }
}
