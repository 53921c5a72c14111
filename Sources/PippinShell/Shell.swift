import CPippinEdit
import CoreDataModel
import Foundation
import StoreEngine
import StoreReading
import Synchronization

/// `pippin-shell`, which `pippin shell` runs: asks for queries, and answers.
enum Shell {
    static func run(_ arguments: [String]) -> Int32 {
        do {
            LineEditor.keepTerminal()
            let store = try DirectStore(try opening(arguments))
            EndingSignals.perform { store.close() }
            defer { store.close() }
            for text in [store.damage, store.modelGap].compactMap({ $0 }) { Session.warn(text) }
            let session = Session(store)
            guard isatty(STDIN_FILENO) == 1 else { return try session.readAll() }
            print("\(store.name): queries, such as “\(session.example)”; .help says more.")
            let stopping = Stopping()
            EndingSignals.takeInterrupts { stopping.stop() }
            LineEditor.run(store.layout, history: historyFile) { line in
                do {
                    return try stopping.answering(store) {
                        try session.answer(line) { text in
                            try stopping.check()
                            print(text, terminator: "")
                        }
                    }
                } catch is Stopping.Stopped {
                    print("\nStopped.")
                    return true
                } catch {
                    print(Session.message(of: error))
                    return true
                }
            }
            return 0
        } catch is OutputBuffer.Closed {
            // The store is closed.
            StandardStreams.endUnread()
        } catch let error as UsageError {
            return complain(error.message + "\nTry “pippin shell --help”.", 64)
        } catch {
            return complain(Session.message(of: error), 1)
        }
    }

    private static func opening(_ arguments: [String]) throws -> DirectStore.Opening {
        let parsed = try ParsedArguments(arguments, command: "shell")
        var opening = DirectStore.Opening(path: parsed.store, modelPath: parsed.options["--model"])
        opening.salvages = true
        return opening
    }

    private static var historyFile: String {
        let environment = ProcessInfo.processInfo.environment
        let folder = environment["XDG_STATE_HOME"] ?? (environment["HOME"] ?? "/tmp") + "/.local/state"
        return folder + "/pippin-history"
    }

    private static func complain(_ message: String, _ status: Int32) -> Int32 {
        StandardStreams.complain("pippin: \(message)\n")
        return status
    }
}

/// Ctrl-C while a line is being answered: the answer is stopped, and the shell goes on.
final class Stopping: Sendable {
    /// The answer was stopped.
    struct Stopped: Error {}

    private enum State {
        case idle
        /// Ends what the store reads.
        case answering((@Sendable () -> Void)?)
        case stopped
    }

    private let state = Mutex(State.idle)

    /// Stops the answer.
    ///
    /// - Returns: false if there is none, or if it was stopped already and has not ended.
    func stop() -> Bool {
        state.withLock { state in
            guard case .answering(let interrupt) = state else { return false }
            interrupt?()
            state = .stopped
            return true
        }
    }

    /// Answers a line.
    ///
    /// - Parameters:
    ///   - store: the store that is asked.
    ///   - body: answers, and calls ``check()`` now and then.
    /// - Returns: what `body` returns.
    /// - Throws: `Stopped` if the answer was stopped before its end; what `body` throws.
    func answering<Result>(_ store: DirectStore, _ body: () throws -> Result) throws -> Result {
        let interrupt = try store.asking { $0.interruption?.interrupter }
        state.withLock { $0 = .answering(interrupt) }
        defer { state.withLock { $0 = .idle } }
        do { return try body() } catch {
            // The store says in its own way that it was interrupted.
            try check()
            throw error
        }
    }

    /// - Throws: `Stopped` if the answer was stopped.
    func check() throws {
        if isStopped { throw Stopped() }
    }

    private var isStopped: Bool {
        state.withLock { if case .stopped = $0 { true } else { false } }
    }
}

/// A store that is being asked.
final class Session {
    let store: DirectStore
    private var format = RowFormat.table

    init(_ store: DirectStore) { self.store = store }

    /// A query that has an answer.
    var example: String { "\(store.layout.entities.first { !$0.isAbstract }?.name ?? "Book") limit 20" }

    /// Lines of a file or a pipe, without a prompt; the first mistake ends it.
    ///
    /// - Throws: `OutputBuffer.Closed` if the reader has closed the output.
    func readAll() throws -> Int32 {
        let output = OutputBuffer(STDOUT_FILENO)
        while let line = readLine() {
            do {
                let goesOn = try answer(line, output.write)
                // Whoever writes the lines may wait for the answer to one before the next.
                try output.flush()
                if !goesOn { break }
            } catch let closed as OutputBuffer.Closed {
                throw closed
            } catch {
                try? output.flush()
                StandardStreams.complain("pippin: \(Self.message(of: error))\n")
                return 1
            }
        }
        // As of a query alone, something may be missing.
        return store.damage == nil ? 0 : 1
    }

    /// - Returns: whether to go on.
    func answer(_ line: String, _ output: (String) throws -> Void) throws -> Bool {
        switch try ShellLine(line) {
        case .nothing: break
        case .quit: return false
        case .help: try output(ShellLine.helpText)
        case .format(let format): self.format = format
        case .entities:
            try store.checkFile()
            let rows = try store.layout.entities.map { entity in
                [
                    entity.name,
                    TextTools.grouped(
                        Int64(try store.asking { try $0.fetchCount(PageRequest(entity: entity).countPlan) })),
                ]
            }
            try output(EntityText.table(rows, indent: 2).joined(separator: "\n") + "\n")
        case .describe(let name):
            guard let document = store.document.entity(named: name) else {
                throw ShellLine.Mistake(message: "there is no entity “\(name)”")
            }
            try output(EntityText.table(EntityText.rows(of: document), indent: 2).joined(separator: "\n") + "\n")
        case .query(let text):
            try store.checkFile()
            let query = try QueryText(text)
            if let groups = try GroupedQuery(query, in: store) {
                try groups.write(format, isVerbatim: false, output)
                return true
            }
            let plan = try query.plan(in: store)
            let found = try StoreSearch.objects(query, plan, in: store)
            let remarks = try QueryOutput(store, plan, RowColumns(of: plan.entity), found: found).write(format, output)
            for text in remarks.misread { Self.warn(text) }
            if let omission = remarks.omission { throw CommandError(omission) }
        }
        return true
    }

    /// Says what is otherwise than it seems, as a sentence without its final period.
    static func warn(_ sentence: String) {
        StandardStreams.complain("pippin: warning: \(TextTools.plainLines(sentence))\n")
    }

    static func message(of error: any Error) -> String {
        let message =
            switch error {
            case let error as CommandError: error.message
            case let error as TextProblem: error.description
            case let error as ShellLine.Mistake: error.message
            default:
                [(error as NSError).localizedDescription, StoreRepair.advice(for: error)].compactMap { $0 }
                    .joined(separator: " ")
            }
        return TextTools.plainLines(message)
    }
}

/// Lines typed at a terminal, with history and completion by libedit.
enum LineEditor {
    /// The model for completions. libedit's callback takes no context.
    private static let layout = Mutex<ModelLayout?>(nil)

    /// Has the terminal put back as it is now if a signal ends the program: libedit would leave it without echo.
    static func keepTerminal() {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
        EndingSignals.perform { [settings] in
            var settings = settings
            tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
    }

    /// Has what is typed read as UTF-8.
    static func readUTF8() { line_editor_read_utf8() }

    /// Asks for lines until there are no more.
    ///
    /// - Parameters:
    ///   - model: the model whose entities and keys are completed.
    ///   - history: the file of the typed lines.
    ///   - answer: handles a line, and returns whether to go on.
    static func run(_ model: ModelLayout, history: String, _ answer: (String) -> Bool) {
        layout.withLock { $0 = model }
        readUTF8()
        line_editor_complete_by { _, _, _ in LineEditor.complete() }
        try? FileManager.default.createDirectory(
            atPath: (history as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        using_history()
        line_editor_clear_by_interrupt()
        read_history(history)
        stifle_history(1000)
        var last = ""
        while let typed = read() {
            defer { free(typed) }
            let line = String(cString: typed).trimmingCharacters(in: .whitespaces)
            if !line.isEmpty, line != last {
                add_history(line)
                save(history)
            }
            last = line
            if !answer(line) { break }
        }
    }

    /// A line, which Ctrl-C clears while it is typed. Afterwards Ctrl-C is the terminal's signal again.
    private static func read() -> UnsafeMutablePointer<CChar>? {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return readline("pippin> ") }
        defer { tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) }
        var typing = settings
        withUnsafeMutableBytes(of: &typing.c_cc) { $0[Int(VINTR)] = 0 }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &typing)
        return readline("pippin> ")
    }

    /// Writes the history, with each line, since the program may be ended by a signal. Queries may contain private
    /// values, so only the user may read the file.
    private static func save(_ history: String) {
        let mask = umask(0o077)
        defer { umask(mask) }
        write_history(history)
    }

    /// The part of a line before the cursor, whose place libedit counts in code points. Pure.
    static func beginning(of line: String, to cursor: Int) -> String { String(line.unicodeScalars.prefix(cursor)) }

    /// The result for libedit: the common prefix, the choices, and a null pointer. libedit frees all of it.
    private static func complete() -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
        line_editor_no_files()
        let text = beginning(of: String(cString: line_editor_text()), to: Int(line_editor_cursor()))
        guard let layout = layout.withLock({ $0 }) else { return nil }
        let found = ShellLine.completions(text, layout)
        guard let first = found.first else { return nil }
        let shared = found.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
        let all = (found.count == 1 ? [] : [shared]) + found
        let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: all.count + 1)
        for (index, choice) in all.enumerated() { list[index] = strdup(choice) }
        list[all.count] = nil
        return list
    }
}
