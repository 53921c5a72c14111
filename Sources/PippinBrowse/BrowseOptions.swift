import StoreCommands

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

    /// - Throws: `UsageError` that says which argument is wrong.
    init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "browse")
        (store, model, schema) = (parsed.store, parsed.options["--model"], parsed.options["--schema"])
        isWritable = parsed.flags.contains("--write")
        opensBrowser = !parsed.flags.contains("--no-open")
        if let text = parsed.options["--port"] {
            guard let number = UInt16(text) else { throw UsageError("“\(text)” is no port") }
            port = Int(number)
        }
    }
}
