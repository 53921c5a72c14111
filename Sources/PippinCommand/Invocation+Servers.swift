import StoreCommands

/// Commands for stores on servers are run by `pippin-postgres`, with other arguments for some of them.
///
///     pippin dump --json postgresql://app@db.example/books --entity Book
///     pippin-postgres dump --json postgresql://app@db.example/books Book
extension Invocation {
    /// Whether an argument is the connection string of a store on a server.
    static func isServer(_ argument: String) -> Bool {
        argument.hasPrefix("postgresql://") || argument.hasPrefix("postgres://")
    }

    /// Whether an argument of `copy` is a connection string of any form, such as `host=db dbname=books`. A file of such
    /// a name is given with its folder: `./a=b.sqlite`.
    private static func isDatabase(_ argument: String) -> Bool {
        isServer(argument) || argument.prefix { $0 != "/" }.contains("=")
    }

    /// The invocation, or the launch of `pippin-postgres` if the store is on a server.
    ///
    /// - Parameter arguments: the arguments that the invocation was read from.
    /// - Returns: the invocation to run.
    /// - Throws: `UsageError` for commands and options that need a file.
    func redirectedToServer(_ arguments: [String]) throws -> Invocation {
        if case .migrate(let options) = self, options.isSQL || Self.isServer(options.store) {
            return try .launch(.postgres, Self.migrate(options))
        }
        if case .copy(let options) = self, [options.source, options.target].contains(where: Self.isDatabase) {
            return .launch(.postgres, arguments)
        }
        guard let (command, store) = commandAndStore, Self.isServer(store) else { return self }
        func onlyFiles(_ option: String, _ value: Any?) throws {
            guard value != nil else { return }
            throw UsageError("\(option) is for files: a store on a server has its own model")
        }
        switch self {
        case .info(let options):
            try onlyFiles("--model", options.model)
            return .launch(.postgres, ["info", store])
        case .dump(let options):
            try onlyFiles("--model", options.model)
            return .launch(
                .postgres,
                ["dump"] + (options.asJSON ? ["--json"] : []) + [store] + (options.entity.map { [$0] } ?? []))
        case .model(.extract(let options)):
            return .launch(
                .postgres, ["model", "extract"] + (options.isForced ? ["--force"] : []) + [store, options.output])
        case .query, .export, .import: return .launch(.postgres, arguments)
        default:
            throw UsageError(
                "\(command) takes a file: “pippin copy URL FILE” makes one of a store on a server, “pippin browse URL” shows it"
            )
        }
    }

    private var commandAndStore: (String, String)? {
        switch self {
        case .info(let options): ("info", options.store)
        case .dump(let options): ("dump", options.store)
        case .query(let options): ("query", options.store)
        case .export(let options): ("export", options.store)
        case .import(let options): ("import", options.store)
        case .check(let options): ("check", options.store)
        case .report(let options): ("report", options.store)
        case .launch(.shell, let arguments): arguments.first(where: Self.isServer).map { ("shell", $0) }
        case .model(.extract(let options)): ("model extract", options.store)
        case .model(.describe(let choice)), .model(.diff(let choice, _)): ("this command of model", choice.path)
        default: nil
        }
    }

    private static func migrate(_ options: MigrateOptions) throws -> [String] {
        let others = [("--mapping", options.mapping), ("--mappings", options.mappings)]
        if let other = others.first(where: { $0.1 != nil })?.0 {
            throw UsageError("\(other) is for files, and not for --sql and stores on servers")
        }
        return ["migrate"] + (options.isSQL || options.isDryRun ? ["--sql"] : [])
            + [options.store, options.model] + (options.version.map { [$0] } ?? [])
    }
}
