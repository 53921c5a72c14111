import CLibEdit
import CoreDataModel
import Foundation
import StoreEngine
import StoreReading

/// `pippin-shell`, which `pippin shell` runs: asks for queries, and answers.
enum Shell {
    static func run(_ arguments: [String]) -> Int32 {
        do {
            let store = try DirectStore(try opening(arguments))
            EndingSignals.perform { store.close() }
            defer { store.close() }
            let shell = Session(store)
            return isatty(STDIN_FILENO) == 1 ? LineEditor.run(shell, history: historyFile) : shell.readAll()
        } catch let error as ShellLine.Mistake {
            return complain(error.message + "\nTry “pippin shell --help”.", 64)
        } catch {
            return complain(Session.message(of: error), 1)
        }
    }

    private static func opening(_ arguments: [String]) throws -> DirectStore.Opening {
        var (paths, model): ([String], String?) = ([], nil)
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--model" {
                guard let value = rest.popFirst() else { throw ShellLine.Mistake(message: "--model needs a value") }
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
        FileHandle.standardError.write(Data("pippin: \(message)\n".utf8))
        return status
    }
}

/// A store that is being asked.
final class Session {
    let store: DirectStore
    private var format = RowFormat.table

    init(_ store: DirectStore) { self.store = store }

    /// Lines of a file or a pipe, without a prompt; the first mistake ends it.
    func readAll() -> Int32 {
        while let line = readLine() {
            do {
                if try !answer(line, { FileHandle.standardOutput.write(Data($0.utf8)) }) { break }
            } catch {
                FileHandle.standardError.write(Data("pippin: \(Self.message(of: error))\n".utf8))
                return 1
            }
        }
        return 0
    }

    /// - Returns: whether to go on.
    func answer(_ line: String, _ output: (String) throws -> Void) throws -> Bool {
        switch try ShellLine(line) {
        case .nothing: break
        case .quit: return false
        case .help: try output(ShellLine.helpText)
        case .format(let format): self.format = format
        case .entities:
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
            let plan = try QueryText(text).plan(store.layout, sortsByKey: store.pagesByKey)
            try QueryOutput(store, plan, RowColumns(of: plan.entity)).write(format, output)
        }
        return true
    }

    static func message(of error: any Error) -> String {
        switch error {
        case let error as CommandError: error.message
        case let error as TextProblem: error.description
        case let error as ShellLine.Mistake: error.message
        default: (error as NSError).localizedDescription
        }
    }
}
