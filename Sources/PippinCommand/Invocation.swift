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
        var isDryRun = false
    }

    case help
    case version
    case migrate(MigrateOptions)
    case info(InfoOptions)
    case dump(DumpOptions)

    /// Reads the arguments, the program's name left out.
    ///
    /// - Throws: `UsageError` that says which argument is wrong.
    init(_ arguments: [String]) throws {
        if arguments.contains("--help") || arguments.contains("-h") || arguments.first == "help" {
            self = .help
            return
        }
        guard let command = arguments.first else {
            throw UsageError("a command is missing; info, dump or migrate expected")
        }
        if command == "--version" {
            self = .version
            return
        }
        let rest = Array(arguments.dropFirst())
        switch command {
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
                rest, command: command, flags: ["--dry-run"], options: ["--to", "--version", "--mapping"])
            guard let model = parsed.options["--to"] else {
                throw UsageError("migrate needs the model to get to: --to MODEL")
            }
            self = .migrate(
                MigrateOptions(
                    store: parsed.store, model: model, version: parsed.options["--version"],
                    mapping: parsed.options["--mapping"], isDryRun: parsed.flags.contains("--dry-run")))
        default:
            throw UsageError("there is no command “\(command)”; info, dump or migrate expected")
        }
    }
}

/// Arguments that make no sense.
struct UsageError: Error, Equatable {
    let message: String
    init(_ message: String) { self.message = message }
}

/// The arguments of one command, told apart.
private struct ParsedArguments {
    let store: String
    private(set) var flags: Set<String> = []
    private(set) var options: [String: String] = [:]

    init(_ arguments: [String], command: String, flags known: Set<String>, options valued: Set<String>) throws {
        var stores: [String] = []
        var position = 0
        var onlyPaths = false
        while position < arguments.count {
            let argument = arguments[position]
            position += 1
            if onlyPaths || !argument.hasPrefix("-") || argument == "-" {
                stores.append(argument)
                continue
            }
            if argument == "--" {
                onlyPaths = true
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if known.contains(argument) {
                flags.insert(argument)
            } else if valued.contains(parts[0]) {
                var value = parts.count == 2 ? parts[1] : nil
                if value == nil, position < arguments.count {
                    value = arguments[position]
                    position += 1
                }
                guard let value, !value.isEmpty else { throw UsageError("\(parts[0]) needs a value") }
                guard options.updateValue(value, forKey: parts[0]) == nil else {
                    throw UsageError("\(parts[0]) is there twice")
                }
            } else {
                let all = known.union(valued).sorted().joined(separator: ", ")
                throw UsageError("\(command) has no option “\(argument)”; it has \(all)")
            }
        }
        guard let store = stores.first else { throw UsageError("\(command) needs the path of a store") }
        guard stores.count == 1 else { throw UsageError("\(command) takes one store; “\(stores[1])” is one too many") }
        self.store = store
    }
}
