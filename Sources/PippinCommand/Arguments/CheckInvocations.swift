import StoreReading

/// `pippin check`.
struct CheckOptions: Equatable {
    var store: String
    /// The mended copy to write; nil to look only.
    var copy: String?
    var model: String?

    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "check")
        (store, copy, model) = (parsed.store, parsed.options["--repair"], parsed.options["--model"])
    }
}

/// `pippin views`.
struct ViewsOptions: Equatable {
    var store: String
    var model: String?

    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "views")
        (store, model) = (parsed.store, parsed.options["--model"])
    }
}

/// `pippin report`.
struct ReportOptions: Equatable {
    var store: String
    var output: String
    var model: String?
    /// The manifest to write; nil for none.
    var evidence: String?

    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments.map { $0 == "-o" ? "--output" : $0 }, command: "report")
        (store, model) = (parsed.store, parsed.options["--model"])
        output = try parsed.required("--output", "the page to write")
        evidence = parsed.options["--evidence"]
    }
}

/// `pippin recover`.
struct RecoverOptions: Equatable {
    var store: String
    /// The folder to make.
    var output: String
    var model: String?
    /// The commit of the log as of which the store is read; nil for the last one.
    var commit: Int?
    var style: ValueStyle
    /// Whether the objects that the store has are left out.
    var leavesOutLive = false
    /// The manifest to write; nil for none.
    var evidence: String?

    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments.map { $0 == "-o" ? "--output" : $0 }, command: "recover")
        (store, model) = (parsed.store, parsed.options["--model"])
        output = try parsed.required("--output", "the folder to make")
        commit = try parsed.commit()
        style = try parsed.style()
        style.decodes = true
        leavesOutLive = parsed.flags.contains("--only-gone")
        evidence = parsed.options["--evidence"]
    }
}

/// `pippin history`.
struct HistoryOptions: Equatable {
    var store: String
    /// The object whose past is shown; nil for all.
    var object: String?
    var asJSON = false
    var follows = false
    var model: String?
    var style: ValueStyle

    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "history")
        (store, model, asJSON) = (parsed.store, parsed.options["--model"], parsed.flags.contains("--json"))
        (object, follows) = (parsed.options["--of"], parsed.flags.contains("--follow"))
        style = try parsed.style()
    }
}

/// `pippin timeline`.
struct TimelineOptions: Equatable {
    /// Stores, and folders with stores.
    var paths: [String]
    var format = Timeline.Format.jsonl
    /// The file to write; nil for the standard output.
    var output: String?
    /// The numbers that are dates, and the time zone.
    var style: ValueStyle
    var model: String?
    /// The manifest to write; nil for none.
    var evidence: String?

    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(
            arguments.map { $0 == "-o" ? "--output" : $0 }, command: "timeline", atMost: .max)
        (paths, output, model) = (parsed.paths, parsed.options["--output"], parsed.options["--model"])
        if let name = parsed.options["--format"] {
            guard let format = Timeline.Format(rawValue: name) else {
                throw UsageError("there is no format “\(name)”; jsonl or csv expected")
            }
            self.format = format
        } else if output?.lowercased().hasSuffix(".csv") == true {
            format = .csv
        }
        style = try parsed.style()
        evidence = parsed.options["--evidence"]
    }
}

/// `pippin scan`.
struct ScanOptions: Equatable {
    var paths: [String]
    var asJSON = false

    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "scan", paths: "folder", atMost: .max)
        (paths, asJSON) = (parsed.paths, parsed.flags.contains("--json"))
    }
}

extension ParsedArguments {
    /// The number of `--at-commit`; nil where it is not there.
    func commit() throws -> Int? {
        guard let text = options["--at-commit"] else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw UsageError("“\(text)” is not the number of a commit; 0, 1, 2 … expected")
        }
        return number
    }
}
