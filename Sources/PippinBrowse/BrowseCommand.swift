import Foundation
import LoopbackServer
import PostgresStoreReading
import StoreBrowser
import StoreReading

/// `pippin-browse`, which `pippin browse` runs: opens a store, and answers until it is ended.
enum BrowseCommand {
    static func run(_ arguments: [String]) -> Int32 {
        do {
            let options = try BrowseOptions(arguments)
            if !options.isWritable { CarefulReading.begin() }
            let session = try BrowserSession(isWritable: options.isWritable, try StoreSource.opener(options))
            EndingSignals.perform { session.close() }
            let router = Router(session, importer: .ofCSV)
            // Where values are edited, files are sent.
            func start(_ port: Int) throws -> LoopbackServer {
                try LoopbackServer(
                    port: port, token: options.token ?? AccessGuard.makeToken(),
                    largestBody: options.isWritable ? PendingUploads.largest + 1 << 20 : 1 << 20
                ) { request, accessGuard in
                    router.response(to: request, token: accessGuard.token)
                }
            }
            let server: LoopbackServer
            if options.port > 0 {
                server = try start(options.port)
            } else {
                // Somebody else may have the store's own port, such as another run.
                do { server = try start(options.usualPort) } catch is LoopbackServer.StartFailure {
                    server = try start(0)
                }
            }
            let ending = options.isWritable ? "Values can be changed there." : "It is only read."
            say("\(session.store.name) is shown at\n  \(server.accessGuard.address)\n\(ending) Ctrl-C ends it.\n")
            if options.opensBrowser { Desktop.open(server.ownAddress) }
            // A signal ends the program.
            while true { sleep(1 << 20) }
        } catch let error as UsageError {
            return complain(error.message + "\nTry “pippin browse --help”.", 64)
        } catch let error as CommandError {
            return complain(error.message, 1)
        } catch let error as LoopbackServer.StartFailure {
            return complain(error.description, 1)
        } catch {
            return complain(Answer.text(of: error), 1)
        }
    }

    /// Writes at once, even if the output is not a terminal: a program that starts this one waits for the address.
    private static func say(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    private static func complain(_ message: String, _ status: Int32) -> Int32 {
        StandardStreams.complain("pippin: \(message)\n")
        return status
    }
}

extension FileImporter {
    /// Files in CSV, imported as `pippin import` does.
    static let ofCSV = FileImporter { work, store in
        try on(work) { options in
            let rehearsal = try ImportCommand.rehearse(options, in: store)
            return Preview(added: rehearsal.added, changed: rehearsal.changed, sample: rehearsal.sample)
        }
    } run: { work, store in
        try on(work) { options in
            try ImportCommand.run(options, in: store, ProgressLine(.none) { _ in }) { _ in }
        }
    }

    /// Does work with the file where a path leads to it.
    private static func on<Result>(_ work: Work, _ body: (ImportOptions) throws -> Result) throws -> Result {
        let folder = try TemporaryFolder()
        return try withExtendedLifetime(folder) {
            let file = folder.url.appendingPathComponent("file.csv")
            try work.file.write(to: file)
            let flags = work.isUpdate ? ["--update"] : []
            return try body(ImportOptions(["-", work.entity, file.path] + flags))
        }
    }
}

/// A browser on this machine's own screen.
enum Desktop {
    /// Opens an address where there is a desktop.
    static func open(_ address: String) {
        let environment = ProcessInfo.processInfo.environment
        guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["xdg-open", address]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // The address was printed.
        try? process.run()
    }
}

/// Where a store is: in a file, or in a database whose URL is given.
enum StoreSource {
    /// What opens the store, as often as that is needed.
    ///
    /// - Throws: an error for a place where there is no store.
    static func opener(_ options: BrowseOptions) throws -> BrowserSession.Opener {
        guard options.store.hasPrefix("postgresql://") || options.store.hasPrefix("postgres://") else {
            let (path, model) = (options.store, options.model)
            return { isWritable, announcesChanges in
                var opening = DirectStore.Opening(path: path, modelPath: model)
                (opening.isWritable, opening.announcesChanges) = (isWritable, announcesChanges)
                (opening.timeout, opening.salvages) = (BrowserSession.patience, true)
                return try DirectStore(opening)
            }
        }
        return try DatabaseSource(options.store, schema: options.schema, model: options.model).open
    }
}

/// What the arguments ask for, as a value.
struct BrowseOptions: Equatable {
    var store: String
    var model: String?
    var schema: String?
    var port = 0
    /// The secret in the address; nil for a new one.
    var token: String?
    var isWritable = false
    var opensBrowser = true

    /// The port that the pages of the store have in each run, where it is free: a browser keeps saved queries by it.
    var usualPort: Int {
        let place = store.contains("://") ? store : URL(fileURLWithPath: store).standardizedFileURL.path
        var hash: UInt32 = 2_166_136_261
        for byte in place.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return 49_152 + Int(hash % 16_384)
    }

    /// - Throws: `UsageError` that says which argument is wrong.
    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "browse")
        (store, model, schema) = (parsed.store, parsed.options["--model"], parsed.options["--schema"])
        isWritable = parsed.flags.contains("--write")
        opensBrowser = !parsed.flags.contains("--no-open")
        if let text = parsed.options["--port"] {
            guard let number = UInt16(text) else { throw UsageError("“\(text)” is not a port") }
            port = Int(number)
        }
    }
}
