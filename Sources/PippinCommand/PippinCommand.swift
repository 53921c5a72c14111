import CodeGeneration
import CoreData
import Foundation
import StoreReading

/// The command `pippin`, apart from where it writes: arguments in, text and an exit status out.
enum PippinCommand {
    /// Everything went well.
    static let success: Int32 = 0
    /// The store or the model cannot be read.
    static let failure: Int32 = 1
    /// Stores do not migrate by themselves from one model to another.
    static let mappingNeeded: Int32 = 2
    /// The reader of the output has stopped reading (what a shell reports of a program that `SIGPIPE` ended).
    static let outputClosed: Int32 = 128 + SIGPIPE
    /// The arguments make no sense (`EX_USAGE`).
    static let usage: Int32 = 64

    static let version = "0.2.0"

    /// Whether the arguments ask for nothing that changes a store in its place.
    static func onlyReads(_ arguments: [String]) -> Bool {
        switch try? Invocation(arguments) {
        case .import?: false
        case .migrate(let options)?: options.isDryRun
        default: true
        }
    }

    /// Whether the arguments are a command that makes another store of one, however large.
    static func copies(_ arguments: [String]) -> Bool {
        if case .copy? = try? Invocation(arguments) { return true }
        return false
    }

    /// Runs the command.
    ///
    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - bytes: the bytes of the arguments as the system has them; empty for those of texts.
    ///   - terminal: whether colours and progress are shown.
    ///   - output: takes what goes to standard output, piece by piece.
    ///   - finish: called when there is no more output.
    ///   - errors: takes what goes to standard error.
    /// - Returns: the exit status.
    static func run(
        _ arguments: [String], bytes: [[UInt8]] = [], terminal: Terminal = .none, output: (String) throws -> Void,
        finish: () throws -> Void = {}, errors: @escaping (String) -> Void
    ) -> Int32 {
        do {
            try ArgumentBytes.check(bytes)
            let status = try EvidenceRun.noting(arguments) {
                try perform(arguments, terminal, output: output, errors: errors)
            }
            try finish()
            return status
        } catch let error as UsageError {
            guard !arguments.isEmpty else {
                errors(Usage.front)
                return usage
            }
            errors("pippin: \(error.message)\n\n\(Usage.summary(of: arguments))")
            return usage
        } catch is OutputBuffer.Closed {
            return outputClosed
        } catch is EndingSignals.Ended {
            // The signal will end the program shortly.
            while true { sleep(1) }
        } catch {
            // Earlier output precedes the error.
            try? finish()
            errors("pippin: \(TextTools.plainLines(message(of: error)))\n")
            return failure
        }
    }

    private static func perform(
        _ arguments: [String], _ terminal: Terminal, output: (String) throws -> Void, errors: @escaping (String) -> Void
    ) throws -> Int32 {
        let progress = ProgressLine(terminal, errors)
        switch try Invocation(arguments) {
        case .help(let topic): try output(Usage.text(topic))
        case .version: try output("pippin \(version)\n")
        case .info(let options): try info(options, output)
        case .dump(let options): try dump(options, output, errors)
        case .migrate(let options):
            if !options.isDryRun { announceLock(options.store, errors) }
            try Migrating.run(options, output)
        case .query(let options):
            let store = try open(options.store, options.model, readsCopy: !options.isInPlace)
            warn(store.modelGap, errors)
            try QueryCommand.run(options, in: store, terminal, output) { warn(sentence: $0, errors) }
        case .search(let options):
            let store = try open(options.store, options.model, readsCopy: !options.isInPlace)
            warn(store.modelGap, errors)
            try SearchCommand.run(options, in: store, terminal, output) { warn(sentence: $0, errors) }
        case .sql(let options):
            let store = try open(options.store, options.model, readsCopy: !options.isInPlace)
            warn(store.modelGap, errors)
            try SQLCommand.run(options, in: store, terminal, output)
        case .export(let options):
            let store = try open(options.store, options.model, readsCopy: !options.isInPlace)
            warn(store.modelGap, errors)
            try QueryCommand.run(options, in: store, progress, output) { warn(sentence: $0, errors) }
        case .import(let options):
            announceLock(options.store, errors)
            let store = try open(options.store, options.model, isWritable: true)
            defer { store.close() }
            try ImportCommand.run(options, in: store, progress, output)
        case .views(let options):
            try output(ViewScript.text(of: open(options.store, options.model, readsCopy: true)))
        case .check(let options): return try CheckCommand.run(options, terminal, progress, output)
        case .report(let options): try ReportCommand.run(options, progress, output)
        case .recover(let options):
            try RecoverCommand.run(options, progress, output) { warn(sentence: $0, errors) }
        case .history(let options):
            // A copy would not show what is saved later.
            let store = try open(options.store, options.model, readsCopy: !options.follows)
            warn(store.modelGap, errors)
            try HistoryText.write(
                store, of: options.object, asJSON: options.asJSON, options.style, follows: options.follows, output)
        case .timeline(let options):
            try TimelineCommand.run(options, progress, output) { warn(sentence: $0, errors) }
        case .scan(let options): try ScanCommand.run(options, output) { warn(sentence: $0, errors) }
        case .copy(let options):
            try CopyCommand.run(options, output) { warn(sentence: $0, errors) }
        case .launch(let program, let arguments): try program.run(arguments)
        case .completions(let shell): try output(shell.text)
        case .manual(let folder): try manual(folder, output)
        case .model(let invocation): return try ModelCommand.run(invocation, output, errors)
        }
        return success
    }

    private static func open(
        _ path: String, _ model: String?, readsCopy: Bool = false, isWritable: Bool = false
    ) throws -> DirectStore {
        var opening = DirectStore.Opening(path: path, modelPath: model)
        (opening.readsCopy, opening.salvages, opening.isWritable) = (readsCopy, readsCopy, isWritable)
        return try DirectStore(opening)
    }

    private static func announceLock(_ store: String, _ errors: (String) -> Void) {
        WritingLock.announce(URL(store: store)) { errors("pippin: \(TextTools.plainLines($0))\n") }
    }

    /// Warns of what is not known without a model, on standard error, since programs read the standard output.
    private static func warn(_ gap: String?, _ errors: (String) -> Void) {
        guard let gap else { return }
        errors("pippin: warning: \(TextTools.plainLines(gap)) (--model names a model)\n")
    }

    /// Warns of values that are shown or copied otherwise than the store has them.
    private static func warn(sentence: String, _ errors: (String) -> Void) {
        errors("pippin: warning: \(TextTools.plainLines(sentence))\n")
    }

    private static func manual(_ folder: String?, _ output: (String) throws -> Void) throws {
        guard let folder else { return try output(ManualPage.text) }
        for page in ManualPage.all { try OutputFile.write(to: "\(folder)/\(page.file)") { try $0(page.text) } }
    }

    private static func info(_ options: Invocation.InfoOptions, _ output: (String) throws -> Void) throws {
        do {
            try output(InfoText.text(of: reading(options.store, options.model, options.commit) { try StoreReport($0) }))
        } catch let error as ModelCandidate.NoModel {
            try output(
                RawText.info(of: RawStore(at: options.store, reason: error.reason, commit: options.commit)))
        }
    }

    /// Reads a store, and if pages turn out to be damaged, what can be read of it.
    private static func reading<Result>(
        _ path: String, _ model: String?, _ commit: Int?, _ body: (OpenedStore) throws -> Result
    ) throws -> Result {
        do { return try body(OpenedStore(at: path, modelPath: model, commit: commit)) } catch
            where StoreRepair.isDamage(error)
        {
            return try body(OpenedStore(at: path, modelPath: model, isDamaged: true, commit: commit))
        }
    }

    private static func dump(
        _ options: Invocation.DumpOptions, _ output: (String) throws -> Void, _ errors: (String) -> Void
    ) throws {
        let shown: (store: OpenedStore, entities: [EntityLayout], warnings: [String])
        do {
            shown = try reading(options.store, options.model, options.commit) { store in
                let entities = try store.objects.entities(named: options.entity)
                let entity = options.entity == nil ? nil : entities.first
                let warnings = try store.strangeRows() + store.misreadValues(of: entity)
                return (store, entities, [store.damage].compactMap { $0 } + warnings)
            }
        } catch let error as ModelCandidate.NoModel {
            let raw = try RawStore(at: options.store, reason: error.reason, commit: options.commit)
            warn("\(error.reason); its objects are shown as the file has them", errors)
            for text in [raw.damage].compactMap({ $0 }) + raw.strangeRows { warn(sentence: text, errors) }
            let entities = try raw.entities(named: options.entity)
            return options.asJSON
                ? try RawText.dumpJSON(raw, entities, options.style, output)
                : try RawText.dump(raw, entities, options.style, output)
        }
        warn(shown.store.modelGap, errors)
        for text in shown.warnings { warn(sentence: text, errors) }
        if options.asJSON {
            try DumpJSON.write(shown.store.objects, shown.entities, options.style, output)
        } else {
            try DumpText.write(shown.store.objects, shown.entities, options.style, output)
        }
    }

    /// One sentence or several for any error: the description, and what to do about it where the error says so.
    private static func message(of error: any Error) -> String {
        if let error = error as? CommandError { return error.message }
        if let failure = error as? GenerationFailure {
            return failure.problems.map { problem in
                "“\(problem.file)”, " + (problem.line.map { "line \($0), " } ?? "") + problem.message
            }.joined(separator: "\npippin: ")
        }
        let advice = StoreRepair.advice(for: error)
        let error = error as NSError
        let suggestion = advice ?? error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String
        return [error.localizedDescription, suggestion].compactMap { $0 }.joined(separator: " ")
    }
}

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
        func noFiles(_ options: [String: Bool]) throws {
            guard let option = options.filter(\.value).keys.sorted().first else { return }
            throw UsageError("\(option) is for files, and not for stores on servers")
        }
        switch self {
        case .info(let options):
            try onlyFiles("--model", options.model)
            try noFiles(["--at-commit": options.commit != nil, "--evidence": options.evidence != nil])
            return .launch(.postgres, ["info", store])
        case .dump(let options):
            try onlyFiles("--model", options.model)
            try noFiles([
                "--at-commit": options.commit != nil, "--evidence": options.evidence != nil,
                "--decode": options.style.decodes, "--raw": options.style.showsRaw,
                "--dates": options.style.epochs != DateEpochs([:]), "--timezone": options.style.timeZone != nil,
            ])
            return .launch(
                .postgres,
                ["dump"] + (options.asJSON ? ["--json"] : []) + [store] + (options.entity.map { [$0] } ?? []))
        case .model(.extract(let options)):
            return .launch(
                .postgres, ["model", "extract"] + (options.isForced ? ["--force"] : []) + [store, options.output])
        case .export(let options):
            try noFiles(["--evidence": options.evidence != nil])
            return .launch(.postgres, arguments)
        case .query(let options):
            try noFiles(["--evidence": options.evidence != nil])
            return .launch(.postgres, arguments)
        case .search, .sql, .import: return .launch(.postgres, arguments)
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
        case .search(let options): ("search", options.store)
        case .sql(let options): ("sql", options.store)
        case .export(let options): ("export", options.store)
        case .import(let options): ("import", options.store)
        case .views(let options): ("views", options.store)
        case .check(let options): ("check", options.store)
        case .report(let options): ("report", options.store)
        case .recover(let options): ("recover", options.store)
        case .history(let options): ("history", options.store)
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
