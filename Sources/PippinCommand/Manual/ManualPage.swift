import StoreReading

/// The manual pages in the language of `man`, made of the descriptions: one of all commands, and one of each. Pure.
enum ManualPage {
    /// All pages with the names of their files, without `.gz`.
    static let all: [(file: String, text: String)] =
        [("pippin.1", text)] + CommandManual.all.map { ("\(name(of: $0)).1", text(of: $0)) }

    /// The page of all commands.
    static let text: String = {
        var lines = head("PIPPIN", "pippin", "looks into the stores of Core Data")
        lines += [".SH SYNOPSIS", ".B pippin", ".I COMMAND", "\\&..."]
        lines += [".SH DESCRIPTION", escaped(CommandManual.purpose), ".SH COMMANDS"]
        for command in CommandManual.all {
            lines += usage(command) + paragraphs(command) + options(command, isInner: true)
        }
        lines += exitStatus(CommandManual.all) + environment
        lines += [".SH SEE ALSO", escaped(CommandManual.all.map { "\(name(of: $0))(1)" }.joined(separator: ", "))]
        return lines.joined(separator: "\n") + "\n"
    }()

    /// The page of a command.
    static func text(of command: CommandDescription) -> String {
        let name = name(of: command)
        var lines = head(name.uppercased(), name, command.summary) + [".SH SYNOPSIS"]
        for usage in command.usage { lines += [".B pippin \(escaped(command.name)) \\fR\(escaped(usage))", ".br"] }
        lines += [".SH DESCRIPTION"] + paragraphs(command)
        if !command.options.isEmpty { lines += [".SH OPTIONS"] + options(command, isInner: false) }
        lines += exitStatus([command]) + environment + [".SH SEE ALSO", "pippin(1)"]
        return lines.joined(separator: "\n") + "\n"
    }

    /// `model diff` has the page `pippin-model-diff`.
    static func name(of command: CommandDescription) -> String {
        "pippin-" + command.name.replacing(" ", with: "-")
    }

    // MARK: Parts

    private static func head(_ title: String, _ name: String, _ purpose: String) -> [String] {
        [
            ".TH \(escaped(title)) 1 \"\" \"pippin \(PippinCommand.version)\" \"User Commands\"",
            // Words of commands are not to be broken, nor lines filled with blanks.
            ".nh", ".ad l", ".SH NAME", "\(escaped(name)) \\- \(escaped(purpose))",
        ]
    }

    private static func usage(_ command: CommandDescription) -> [String] {
        command.usage.flatMap { [".TP", ".B pippin \(escaped(command.name)) \\fR\(escaped($0))"] }
    }

    private static func paragraphs(_ command: CommandDescription) -> [String] {
        command.text.split(separator: "\n").flatMap { paragraph in
            paragraph.hasPrefix("    ")
                ? [".IP", "\\fB\(escaped(paragraph.drop { $0 == " " }))\\fR", ".IP"] : [escaped(paragraph)]
        }
    }

    private static func options(_ command: CommandDescription, isInner: Bool) -> [String] {
        command.options.flatMap { option in
            let value = option.value.map { " \\fI\(escaped($0))\\fR" } ?? ""
            let lines = [".TP", ".B \(escaped(option.name))\(value)", escaped(option.text)]
            return isInner ? [".RS"] + lines + [".RE"] : lines
        }
    }

    private static func exitStatus(_ commands: [CommandDescription]) -> [String] {
        var lines = [
            ".SH EXIT STATUS", ".TP", "0", "Everything went well.", ".TP", "1",
            "A store or a model cannot be read or is wrong, or the output cannot be written.",
        ]
        for command in commands {
            for status in command.statuses {
                let meaning = commands.count == 1 ? first(status.meaning) : "\(command.name): \(status.meaning)"
                lines += [".TP", "\(status.number)", escaped("\(meaning).")]
            }
        }
        return lines + [
            ".TP", "64", "The arguments make no sense.", ".TP", "141",
            "The reader of the output has closed it (SIGPIPE).",
        ]
    }

    private static let environment = [
        ".SH ENVIRONMENT", ".TP", "NO_COLOR", "If set and not empty, nothing is coloured, on terminals neither.",
        ".TP", "TMPDIR", "Where private copies of stores are kept while they are read.",
        ".TP", "PIPPIN_SYNC_TOKEN", "The token that a server over HTTP is sent by “pippin sync”.",
    ]

    private static func first(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    private static func escaped(_ text: some StringProtocol) -> String {
        let plain = String(text).replacing("\\", with: "\\\\").replacing("-", with: "\\-").replacing("“", with: "\\(lq")
            .replacing("”", with: "\\(rq")
            .replacing("…", with: "...").replacing("→", with: "\\(->")
        return plain.first == "." || plain.first == "'" ? "\\&" + plain : plain
    }
}
