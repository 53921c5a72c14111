/// The description of a command, from which its help, manual page and shell completions are generated, and by which its
/// arguments are read.
package struct CommandDescription {
    package struct Option {
        /// `--model`.
        package let name: String
        /// The name of its value; nil for a flag.
        package var value: String?
        package let text: String
        /// The allowed values; empty if any is allowed.
        package var choices: [String] = []
    }

    /// The name as it is typed, without the program: `model diff`.
    package let name: String
    /// The arguments after the name, a line for each form.
    package let usage: [String]
    /// A summary in one line.
    package let summary: String
    /// The full description, in paragraphs.
    package let text: String
    package var options: [Option] = []
    /// The exit statuses other than 0, 1 and 64.
    package var statuses: [(number: Int, meaning: String)] = []
}
