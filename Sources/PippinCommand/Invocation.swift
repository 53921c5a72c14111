import StoreReading

/// What the arguments ask for, as a value.
enum Invocation: Equatable {
    struct InfoOptions: Equatable {
        var store: String
        var model: String?
        /// The commit of the log as of which the store is read; nil for the last one.
        var commit: Int?
        /// The manifest to write; nil for none.
        var evidence: String?
    }

    struct DumpOptions: Equatable {
        var store: String
        var model: String?
        /// Nil for all entities.
        var entity: String?
        var asJSON = false
        var style = ValueStyle()
        /// The commit of the log as of which the store is read; nil for the last one.
        var commit: Int?
        /// The manifest to write; nil for none.
        var evidence: String?
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
        /// Whether only the statements are wanted.
        var isSQL = false
    }

    case help(HelpTopic)
    case version
    case model(ModelInvocation)
    case migrate(MigrateOptions)
    case info(InfoOptions)
    case dump(DumpOptions)
    case query(QueryOptions)
    case export(ExportOptions)
    case search(SearchOptions)
    case sql(SQLOptions)
    case `import`(ImportOptions)
    case views(ViewsOptions)
    case check(CheckOptions)
    case report(ReportOptions)
    case recover(RecoverOptions)
    case history(HistoryOptions)
    case timeline(TimelineOptions)
    case scan(ScanOptions)
    /// From a file to a file; other copies are launches.
    case copy(CopyOptions)
    /// A program that is built apart, with the arguments for it to read.
    case launch(ProgramLauncher, [String])
    case completions(ShellCompletions)
    /// The folder for the pages of all commands; nil for one page on the standard output.
    case manual(folder: String?)

    /// Reads the arguments, the program's name left out.
    ///
    /// - Throws: `UsageError` that says which argument is wrong.
    init(_ arguments: [String]) throws { self = try Invocation(reading: arguments).redirectedToServer(arguments) }

    private init(reading arguments: [String]) throws {
        if arguments.contains("--help") || arguments.contains("-h") || arguments.first == "help" {
            self = .help(try HelpTopic(arguments))
            return
        }
        guard let command = arguments.first else { throw UsageError("a command is missing") }
        if command == "--version" {
            self = .version
            return
        }
        let rest = Array(arguments.dropFirst())
        switch command {
        case "model": self = .model(try ModelInvocation(rest))
        case "info":
            let parsed = try ParsedArguments(rest, command: command)
            self = .info(
                InfoOptions(
                    store: parsed.store, model: parsed.options["--model"], commit: try parsed.commit(),
                    evidence: parsed.options["--evidence"]))
        case "dump":
            let parsed = try ParsedArguments(rest, command: command)
            self = .dump(
                DumpOptions(
                    store: parsed.store, model: parsed.options["--model"], entity: parsed.options["--entity"],
                    asJSON: parsed.flags.contains("--json"), style: try parsed.style(), commit: try parsed.commit(),
                    evidence: parsed.options["--evidence"]))
        case "migrate": self = .migrate(try Self.migrate(rest))
        case "query": self = .query(try QueryOptions(rest))
        case "search": self = .search(try SearchOptions(rest))
        case "sql": self = .sql(try SQLOptions(rest))
        case "export": self = .export(try ExportOptions(rest))
        case "import": self = .import(try ImportOptions(rest))
        case "views": self = .views(try ViewsOptions(rest))
        case "check": self = .check(try CheckOptions(rest))
        case "report": self = .report(try ReportOptions(rest))
        case "recover": self = .recover(try RecoverOptions(rest))
        case "history": self = .history(try HistoryOptions(rest))
        case "timeline": self = .timeline(try TimelineOptions(rest))
        case "scan": self = .scan(try ScanOptions(rest))
        case "browse", "shell": self = .launch(command == "shell" ? .shell : .browse, rest)
        case "copy": self = .copy(try CopyOptions(rest))
        case "sync":
            _ = try SyncOptions(rest)
            self = .launch(.postgres, arguments)
        case "sync-server":
            _ = try SyncServerOptions(rest)
            self = .launch(.postgres, arguments)
        case "manual":
            let parsed = try ParsedArguments(rest, command: command, atMost: 0, needsPath: false)
            self = .manual(folder: parsed.options["--all"])
        case "completions":
            guard rest.count == 1, let shell = ShellCompletions(rawValue: rest[0]) else {
                throw UsageError("completions needs a shell: bash, zsh or fish")
            }
            self = .completions(shell)
        default:
            throw Self.unknown(command)
        }
    }

    /// What to say of a word that is not a command: the path of a store, or another spelling of one.
    private static func unknown(_ word: String) -> UsageError {
        if isServer(word) || word.contains(".") || word.contains("/") {
            return UsageError(
                "a command stands before the store: “pippin info \(isServer(word) ? "URL" : word)” describes it")
        }
        let hint = TextProblem.hint(for: word, among: CommandManual.commands, all: "there are")
        return UsageError("there is no command “\(word)”; \(hint)")
    }

    private static func migrate(_ arguments: [String]) throws -> MigrateOptions {
        let parsed = try ParsedArguments(arguments, command: "migrate")
        guard let model = parsed.options["--to"] else {
            throw UsageError("migrate needs the model to get to: --to MODEL")
        }
        guard parsed.options["--mapping"] == nil || parsed.options["--mappings"] == nil else {
            throw UsageError(
                "--mapping names one mapping model, and --mappings a folder of them: one of the two expected")
        }
        return MigrateOptions(
            store: parsed.store, model: model, version: parsed.options["--version"],
            mapping: parsed.options["--mapping"], mappings: parsed.options["--mappings"],
            isDryRun: parsed.flags.contains("--dry-run"), isSQL: parsed.flags.contains("--sql"))
    }
}
