import CodeGeneration
import Foundation

/// What CoreDataPlugin asks of the tool, from the command line.
struct Arguments {
    /// `model`, `mapping` or `sources`.
    var command: String
    private var values: [String: [String]] = [:]

    /// - Throws: `UsageError` if the arguments are not `COMMAND (--name value)…`; `--library` has no value.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        guard let command = rest.popFirst() else { throw UsageError("expected a command: model, mapping or sources") }
        self.command = command
        while let option = rest.popFirst() {
            guard option.hasPrefix("--") else { throw UsageError("expected an option instead of “\(option)”") }
            guard option != "--library" else {
                values[option] = []
                continue
            }
            guard let value = rest.popFirst() else { throw UsageError("\(option) needs a value") }
            values[option, default: []].append(value)
        }
    }

    func all(_ option: String) -> [String] {
        values[option] ?? []
    }

    func one(_ option: String) throws -> String {
        guard let value = values[option]?.last else { throw UsageError("\(option) is missing") }
        return value
    }

    var isLibrary: Bool { values["--library"] != nil }

    var compiler: SwiftCompiler {
        get throws {
            SwiftCompiler(executable: try one("--compiler"), options: all("--define").flatMap { ["-D", $0] })
        }
    }

    /// The module and its sources.
    ///
    /// - Parameter generatedClasses: the classes that no source declares.
    /// - Returns: the module, its sources and what it depends on.
    /// - Throws: `UsageError` for arguments that are missing or malformed.
    func target(generatedClasses: [String]) throws -> TargetSources {
        var dependencies: [String: String] = [:]
        for dependency in all("--dependency") {
            let parts = dependency.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw UsageError("expected NAME=FOLDER instead of “\(dependency)”") }
            dependencies[parts[0]] = parts[1]
        }
        return TargetSources(
            moduleName: try one("--module"), paths: all("--source"), generatedClasses: generatedClasses,
            dependencies: dependencies)
    }
}

/// A mistake in the way the tool was called.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ message: String) {
        description = "error: ModelCompiler: \(message)"
    }
}
