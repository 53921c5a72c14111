import Foundation
import StoreReading

/// `pippin-shell`, which `pippin shell` runs: asks for queries, and answers.
enum Shell {
    static func run(_ arguments: [String]) -> Int32 {
        do {
            let store = try DirectStore(try opening(arguments))
            EndingSignals.perform { store.close() }
            defer { store.close() }
            let session = Session(store)
            guard isatty(STDIN_FILENO) == 1 else { return try session.readAll() }
            print("\(store.name): queries, such as “\(session.example)”; .help says more.")
            LineEditor.run(store.layout, history: historyFile) { line in
                do { return try session.answer(line) { print($0, terminator: "") } } catch {
                    print(Session.message(of: error))
                    return true
                }
            }
            return 0
        } catch is OutputBuffer.Closed {
            // The store is closed.
            StandardStreams.endUnread()
        } catch let error as ShellLine.Mistake {
            return complain(error.message + "\nTry “pippin shell --help”.", 64)
        } catch {
            return complain(Session.message(of: error), 1)
        }
    }

    private static func opening(_ arguments: [String]) throws -> DirectStore.Opening {
        var (paths, model): ([String], String?) = ([], nil)
        var rest = arguments[...]
        var onlyPaths = false
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if onlyPaths {
                paths.append(argument)
            } else if argument == "--" {
                onlyPaths = true
            } else if parts.first == "--model" {
                guard let value = parts.count == 2 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                    throw ShellLine.Mistake(message: "--model needs a value")
                }
                model = value
            } else if argument.hasPrefix("-") {
                throw ShellLine.Mistake(message: "shell has no option “\(argument)”; it has --model")
            } else {
                paths.append(argument)
            }
        }
        guard paths.count == 1 else { throw ShellLine.Mistake(message: "shell needs the path of a store") }
        return DirectStore.Opening(path: paths[0], modelPath: model)
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
