import StoreCommands
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

/// `pippin report`.
struct ReportOptions: Equatable {
    var store: String
    var output: String
    var model: String?

    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments.map { $0 == "-o" ? "--output" : $0 }, command: "report")
        (store, model) = (parsed.store, parsed.options["--model"])
        output = try parsed.required("--output", "the page to write")
    }
}
