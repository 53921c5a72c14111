/// All commands of `pippin`, and of the programs that it launches.
package enum CommandManual {
    package static let purpose =
        "pippin looks into the stores of Core Data, without changing a byte of them, and migrates, mends and changes them when asked."

    package static let all: [CommandDescription] = reading + examining + showing + changing + models + others

    /// The names of the commands that people type, those of one word.
    package static let commands = all.map(\.name).filter { !$0.contains(" ") }

    /// A command by its name.
    package static func command(_ name: String) -> CommandDescription? { all.first { $0.name == name } }

    static let model = CommandDescription.Option(
        name: "--model", value: "MODEL",
        text:
            "The model to read the store with: .momd, .mom, .xcdatamodeld or .xcdatamodel. Without it, the copy that the store keeps of its model; "
            + "where there is none, objects are shown as the store's tables, or its file, have them.")
    static let format = CommandDescription.Option(
        name: "--format", value: "FORMAT", text: "table, csv, json or jsonl (JSON Lines). Without it, a table.",
        choices: ["table", "csv", "json", "jsonl"])
    static let inPlace = CommandDescription.Option(
        name: "--in-place",
        text:
            "Read the store where it is, and not a copy: for very large ones. Nothing of it or beside it is changed."
    )

    static let evidence = CommandDescription.Option(
        name: "--evidence", value: "FILE",
        text:
            "Write a manifest of the run: version and arguments of the program, the time, SHA-256, size and time of each file of the store before it was read and whether they are the same afterwards, "
            + "which pages and frames were read, and the same of each file that was written."
    )
    static let dates = CommandDescription.Option(
        name: "--dates", value: "LIST",
        text:
            "Numbers that are dates, as property=epoch or Entity.property=epoch, with commas: sent=unix-ms,Visit.time=webkit. Epochs are unix, unix-ms, unix-us, unix-ns, 2001, 2001-ns "
            + "and webkit (microseconds since 1601)."
    )
    static let timezone = CommandDescription.Option(
        name: "--timezone", value: "ZONE",
        text:
            "The time zone of dates, such as Europe/Berlin; without it, UTC. Dates have the offset from UTC at their end."
    )
    static let decode = CommandDescription.Option(
        name: "--decode",
        text:
            "Write what bytes hold beside them, as “$contents” (a member of each object in JSON, a column in CSV): keyed archives, property lists, JSON, text, gzip, images, bodies of Apple Notes. "
            + "The bytes themselves stay where they are. A table and a dump for people show it without being asked.")
    static let raw = CommandDescription.Option(
        name: "--raw",
        text:
            "Write what the store has beside values that are shown otherwise, as “$raw” (in JSON and CSV) or in brackets: dates as numbers, bytes in Base64 or, for people, as hexadecimal digits."
    )
    static let atCommit = CommandDescription.Option(
        name: "--at-commit", value: "NUMBER",
        text:
            "Read the store as of a commit of its write-ahead log: 1 for the first, 0 for the file without its log. Without it, as of the last one."
    )

    static let verbatim = CommandDescription.Option(
        name: "--verbatim",
        text:
            "Write texts into CSV as they are. Without it, an apostrophe stands before a text that a spreadsheet would compute (=, +, -, @ at its beginning; "
            + "numbers and telephone numbers stay); import takes it away again."
    )

    private static let others = [
        CommandDescription(
            name: "completions", usage: ["bash | zsh | fish"], summary: "what a shell completes",
            text: "Writes the completions of a shell, for its folder of such files. “make install” puts them there."),
        CommandDescription(
            name: "manual", usage: ["[--all FOLDER]"], summary: "the manual page",
            text: "Writes the manual page of all commands, in the language of man.",
            options: [
                .init(
                    name: "--all", value: "FOLDER",
                    text:
                        "Write that page and one of each command into a folder that is there: pippin.1, pippin-query.1, …"
                )
            ]),
    ]
}

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
