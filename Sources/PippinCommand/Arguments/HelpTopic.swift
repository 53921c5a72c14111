import StoreReading

/// The topic of a request for help: everything, or a command.
enum HelpTopic: String, CaseIterable, Equatable {
    case all
    case info, dump, query, search, sql, export, views, check, report, recover, history, timeline, scan, browse, shell,
        `import`,
        migrate, sync, copy,
        model
    case completions, manual
    case syncServer = "sync-server"
    case describe = "model describe"
    case validate = "model validate"
    case diff = "model diff"
    case graph = "model graph"
    case generate = "model generate"
    case swiftdata = "model swiftdata"
    case compile = "model compile"
    case extract = "model extract"

    /// The command that the arguments begin with, `help` left out; all commands if there is no word.
    ///
    /// - Throws: `UsageError` for a word that is not a command.
    init(_ arguments: [String]) throws {
        let words = arguments.drop { $0 == "help" }.prefix { !$0.hasPrefix("-") }
        let pair = words.prefix(2).joined(separator: " ")
        guard let first = words.first else {
            self = .all
            return
        }
        guard let topic = HelpTopic(rawValue: pair) ?? HelpTopic(rawValue: first) else {
            throw UsageError("there is no command “\(first)”; “pippin help” lists them all")
        }
        self = topic
    }
}
