/// What somebody wants help with: everything, or a command.
enum HelpTopic: String, CaseIterable, Equatable {
    case all
    case info, dump, query, export, check, report, browse, shell, `import`, migrate, copy, model, completions, manual
    case describe = "model describe"
    case validate = "model validate"
    case diff = "model diff"
    case graph = "model graph"
    case generate = "model generate"
    case compile = "model compile"
    case extract = "model extract"

    /// The command that the arguments begin with, `help` left out; all commands where they name none.
    init(_ arguments: [String]) {
        let words = arguments.drop { $0 == "help" }.prefix { !$0.hasPrefix("-") }
        let pair = words.prefix(2).joined(separator: " ")
        self = HelpTopic(rawValue: pair) ?? words.first.flatMap(HelpTopic.init) ?? .all
    }
}
