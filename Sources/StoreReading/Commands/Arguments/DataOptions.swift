import Foundation

/// `pippin query`.
package struct QueryOptions: Equatable {
    package var store: String
    package var query: String
    package var format = RowFormat.table
    /// Nil for all columns.
    package var columns: [String]?
    package var model: String?
    package var isInPlace = false
    package var isVerbatim = false
    package var style: ValueStyle
    /// The manifest of the run to write; nil for none.
    package var evidence: String?

    package init(_ arguments: [String]) throws {
        let parsed = try Self.parsed(arguments)
        (store, query) = (parsed.paths[0], parsed.paths[1])
        format = try parsed.format(among: RowFormat.allCases) ?? .table
        columns = parsed.options["--columns"] == nil ? nil : parsed.list("--columns")
        model = parsed.options["--model"]
        isInPlace = parsed.flags.contains("--in-place")
        isVerbatim = parsed.flags.contains("--verbatim")
        style = try parsed.style()
        evidence = parsed.options["--evidence"]
    }

    private static func parsed(_ arguments: [String]) throws -> ParsedArguments {
        let all = try ParsedArguments(arguments, command: "query", atMost: .max)
        guard all.paths.count > 2 else {
            return try ParsedArguments(arguments, command: "query", named: ["a store", "a query in quotes"])
        }
        let query = all.paths.dropFirst().joined(separator: " ").replacing("'", with: "\"")
        throw UsageError("the query is one argument, in quotation marks: pippin query STORE '\(query)'")
    }
}

/// `pippin export`.
package struct ExportOptions: Equatable {
    package var store: String
    /// Nil for all entities, each in a file of its own.
    package var entity: String?
    package var format: RowFormat
    /// The file, or the folder for all entities; nil for the standard output.
    package var output: String?
    package var model: String?
    package var isInPlace = false
    package var isVerbatim = false
    package var style: ValueStyle
    /// The manifest of the run to write; nil for none.
    package var evidence: String?

    package init(_ arguments: [String]) throws {
        let isAll = arguments.contains("--all")
        let parsed = try ParsedArguments(
            arguments, command: "export", named: isAll ? ["a store"] : ["a store", "an entity"])
        store = parsed.paths[0]
        entity = isAll ? nil : parsed.paths[1]
        output = parsed.options["--output"]
        guard !isAll || output != nil else {
            throw UsageError("--all writes a file for each entity, and needs a folder for them: --output FOLDER")
        }
        format = try parsed.format(among: [.csv, .json, .jsonl]) ?? output.flatMap(RowFormat.init(fileName:)) ?? .csv
        model = parsed.options["--model"]
        isInPlace = parsed.flags.contains("--in-place")
        isVerbatim = parsed.flags.contains("--verbatim")
        style = try parsed.style()
        evidence = parsed.options["--evidence"]
    }
}

/// `pippin import`.
package struct ImportOptions: Equatable {
    package var store: String
    package var entity: String
    package var file: String
    package var format: RowFormat
    package var model: String?
    package var isVerbatim = false
    /// Whether an object of the store with the same unique values is changed.
    package var isUpdate = false
    /// The properties by the names that the file has for them.
    package var names: [String: String] = [:]
    /// The names in the file that are left out; `*` for all that the entity does not have.
    package var ignored: Set<String> = []

    package init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "import", named: ["a store", "an entity", "a file"])
        (store, entity, file) = (parsed.paths[0], parsed.paths[1], parsed.paths[2])
        guard let format = try parsed.format(among: [.csv, .json, .jsonl]) ?? RowFormat(fileName: file) else {
            let name = file == "-" ? "the standard input" : "“\(file)”"
            throw UsageError("\(name) does not say what is in it: --format csv, json or jsonl")
        }
        self.format = format
        model = parsed.options["--model"]
        isVerbatim = parsed.flags.contains("--verbatim")
        isUpdate = parsed.flags.contains("--update")
        ignored = Set(parsed.list("--ignore"))
        for pair in parsed.list("--map") {
            guard let sign = pair.lastIndex(of: "="), sign != pair.startIndex, pair.index(after: sign) != pair.endIndex
            else { throw UsageError("--map takes NAME=PROPERTY, and not “\(pair)”") }
            names[String(pair[..<sign])] = String(pair[pair.index(after: sign)...])
        }
    }
}

/// `pippin sync`.
package struct SyncOptions: Equatable {
    package var store: String
    package var server: String
    /// Whether it goes on until somebody ends it.
    package var follows = false
    /// Whether the store gets a history if it has none.
    package var beginsHistory = false
    /// Whether what was refused is forgotten.
    package var discards = false
    /// Whether all rows are compared.
    package var checks = false
    /// The file with the token for a server over HTTP; nil for the environment's.
    package var tokenFile: String?

    /// Whether the server is asked over HTTP.
    package var isOnline: Bool { server.hasPrefix("https://") || server.hasPrefix("http://") }

    package init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "sync", named: ["a store", "a server"])
        (store, server) = (parsed.paths[0], parsed.paths[1])
        follows = parsed.flags.contains("--follow")
        guard !follows || !parsed.flags.contains("--once") else {
            throw UsageError("--once ends when both have the same, and --follow goes on: one of the two expected")
        }
        checks = parsed.flags.contains("--check")
        guard !follows || !checks else {
            throw UsageError("--check compares once, and --follow goes on: one of the two expected")
        }
        beginsHistory = parsed.flags.contains("--keep-history")
        discards = parsed.flags.contains("--discard-refused")
        tokenFile = parsed.options["--token-file"]
        guard tokenFile == nil || isOnline else {
            throw UsageError("--token-file is for a server over HTTP (https://…); “\(server)” is not one")
        }
    }
}

/// `pippin sync-server`.
package struct SyncServerOptions: Equatable {
    package var store: String
    /// The file with tokens, and the users and scopes that they stand for.
    package var tokens: String
    /// The port of 127.0.0.1; 0 for any that is free.
    package var port = 0
    /// Whether the store gets a history if it has none.
    package var beginsHistory = false

    package init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "sync-server", named: ["a store"])
        store = parsed.paths[0]
        tokens = try parsed.required("--tokens", "a file with the users' tokens")
        beginsHistory = parsed.flags.contains("--keep-history")
        if let text = parsed.options["--port"] {
            guard let number = Int(text), (0...65_535).contains(number) else {
                throw UsageError("“\(text)” is not a port: a number up to 65535 is expected")
            }
            port = number
        }
    }
}

extension RowFormat {
    /// What a file's extension says.
    init?(fileName: String) {
        switch fileName.lowercased().split(separator: ".").last {
        case "csv": self = .csv
        case "json": self = .json
        case "jsonl", "ndjson": self = .jsonl
        default: return nil
        }
    }
}

extension ParsedArguments {
    /// Arguments that stand for different things, of which none may be missing.
    init(_ arguments: [String], command: String, named names: [String]) throws {
        try self.init(arguments, command: command, atMost: .max)
        guard paths.count >= names.count else { throw UsageError("\(command) needs \(names[paths.count]) as well") }
        guard paths.count == names.count else {
            let all =
                names.count == 1 ? names[0] : names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
            throw UsageError("\(command) takes \(all); “\(paths[names.count])” is one too many")
        }
    }

    /// How values are to be shown: `--decode`, `--raw`, `--dates` and `--timezone`.
    package func style() throws -> ValueStyle {
        var style = ValueStyle()
        (style.decodes, style.showsRaw) = (flags.contains("--decode"), flags.contains("--raw"))
        do { style.epochs = try DateEpochs(options["--dates"] ?? "") } catch let error as CommandError {
            throw UsageError(error.message)
        }
        if let name = options["--timezone"] {
            guard let zone = TimeZone(identifier: name) else {
                throw UsageError(
                    "“\(name)” is not a time zone; one such as Europe/Berlin, America/New_York or UTC is expected")
            }
            style.timeZone = zone
        }
        return style
    }

    /// The names that an option lists, with commas between them.
    func list(_ option: String) -> [String] {
        (options[option] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The format that is named; nil where none is.
    func format(among known: [RowFormat]) throws -> RowFormat? {
        guard let name = options["--format"] else { return nil }
        guard let format = RowFormat(rawValue: name), known.contains(format) else {
            throw UsageError(
                "there is no format “\(name)”; one of \(known.map(\.rawValue).joined(separator: ", ")) expected")
        }
        return format
    }
}

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
