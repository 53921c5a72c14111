/// What a command is, as a value: its help, its manual page and what a shell completes are made of it.
struct CommandDescription {
    struct Option {
        /// `--model`.
        let name: String
        /// What its value is called; nil for a flag.
        var value: String?
        let text: String
        /// The values that there are; none where others are possible.
        var choices: [String] = []
    }

    /// As it is typed, without the program: `model diff`.
    let name: String
    /// What follows the name, a line for each form.
    let usage: [String]
    /// What it does, in a line.
    let summary: String
    /// What it does, in a paragraph or several.
    let text: String
    var options: [Option] = []
    /// The exit statuses other than 0, 1 and 64.
    var statuses: [(number: Int, meaning: String)] = []
}
