/// The description of a command, from which its help, manual page and shell completions are generated.
struct CommandDescription {
    struct Option {
        /// `--model`.
        let name: String
        /// The name of its value; nil for a flag.
        var value: String?
        let text: String
        /// The allowed values; empty if any is allowed.
        var choices: [String] = []
    }

    /// The name as it is typed, without the program: `model diff`.
    let name: String
    /// The arguments after the name, a line for each form.
    let usage: [String]
    /// A summary in one line.
    let summary: String
    /// The full description, in paragraphs.
    let text: String
    var options: [Option] = []
    /// The exit statuses other than 0, 1 and 64.
    var statuses: [(number: Int, meaning: String)] = []
}
