import Foundation
import StoreCommands
import StoreReading

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
