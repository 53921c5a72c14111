import Foundation
import StoreReading

/// The arguments of one command, told apart: paths, and the flags and options with a value that its description has.
package struct ParsedArguments {
    private let command: String
    package private(set) var paths: [String] = []
    package private(set) var flags: Set<String> = []
    package private(set) var options: [String: String] = [:]

    /// The first path; the only one of most commands.
    package var path: String { paths.first ?? "" }
    /// The path of commands that take a store.
    package var store: String { path }

    /// - Parameters:
    ///   - arguments: what follows the command.
    ///   - command: its name.
    ///   - kind: what its paths are paths of.
    ///   - maximum: how many paths it takes at most.
    ///   - needsPath: whether there must be one.
    /// - Throws: `CommandError` for an argument that the command does not have.
    package init(
        _ arguments: [String], command: String, paths kind: String = "store", atMost maximum: Int = 1,
        needsPath: Bool = true
    ) throws {
        self.command = command
        let described = CommandManual.command(command)?.options ?? []
        let known = described.filter { $0.value == nil }.map(\.name)
        let valued = described.filter { $0.value != nil }.map(\.name)
        var position = 0
        var onlyPaths = false
        while position < arguments.count {
            let argument = arguments[position]
            position += 1
            if onlyPaths || !argument.hasPrefix("-") || argument == "-" {
                paths.append(argument)
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
                let all = (known + valued).sorted().joined(separator: ", ")
                throw UsageError("\(command) has no option “\(argument)”; it has \(all)")
            }
        }
        guard !needsPath || !paths.isEmpty else { throw UsageError("\(command) needs the path of a \(kind)") }
        guard paths.count <= maximum else {
            let number =
                maximum == 0 ? "no arguments" : maximum == 1 ? "one \(kind)" : "two \(kind)s"
            throw UsageError("\(command) takes \(number); “\(paths[maximum])” is one too many")
        }
    }

    package func required(_ option: String, _ what: String) throws -> String {
        guard let value = options[option] else { throw UsageError("\(command) needs \(what): \(option)") }
        return value
    }
}

/// The bytes of the arguments as the system hands them over. Paths are bytes there, and texts in Foundation.
package enum ArgumentBytes {
    /// Checks that every argument is UTF-8: Foundation would read other bytes as the name of another file.
    ///
    /// - Parameter arguments: the bytes of each argument, the program's name left out.
    /// - Throws: `UsageError` that shows the first that is not text.
    package static func check(_ arguments: [[UInt8]]) throws {
        for (index, bytes) in arguments.enumerated() where String(validating: bytes, as: UTF8.self) == nil {
            let shown = TextTools.inOneLine(String(decoding: bytes, as: UTF8.self))
            throw UsageError(
                "argument \(index + 1), “\(shown)”, is not UTF-8. Foundation, with which files are opened here, takes no "
                    + "other paths: rename the file, or make a link to it with another name")
        }
    }

    /// The arguments of this process, the program's name left out.
    package static var ofProcess: [[UInt8]] {
        // The array belongs to the process, and is only read.
        let arguments = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        return arguments.dropFirst().compactMap { argument in
            argument.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
    }
}

/// Arguments that make no sense.
package struct UsageError: Error, Equatable {
    package let message: String
    package init(_ message: String) { self.message = message }
}
