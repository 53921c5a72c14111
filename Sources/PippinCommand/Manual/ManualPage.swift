/// The manual page in the language of `man`, made of the descriptions. Pure.
enum ManualPage {
    static let text: String = {
        var lines = [
            ".TH PIPPIN 1 \"\" \"pippin \(PippinCommand.version)\" \"User Commands\"", ".SH NAME",
            "pippin \\- looks into the stores of Core Data", ".SH SYNOPSIS",
        ]
        lines += [".B pippin", ".I COMMAND", "\\&..."]
        lines += [".SH DESCRIPTION", escaped(CommandManual.purpose)]
        lines.append(".SH COMMANDS")
        for command in CommandManual.all {
            for usage in command.usage { lines += [".TP", ".B pippin \(escaped(command.name)) \\fR\(escaped(usage))"] }
            for paragraph in command.text.split(separator: "\n") {
                lines +=
                    paragraph.hasPrefix("    ")
                    ? [".IP", "\\fB\(escaped(paragraph.drop { $0 == " " }))\\fR", ".IP"] : [escaped(paragraph)]
            }
            for option in command.options {
                let value = option.value.map { " \\fI\(escaped($0))\\fR" } ?? ""
                lines += [".RS", ".TP", ".B \(escaped(option.name))\(value)", escaped(option.text), ".RE"]
            }
        }
        lines += [".SH EXIT STATUS", ".TP", "0", "Everything went well.", ".TP", "1"]
        lines += ["A store or a model cannot be read or is wrong, or the output cannot be written."]
        for command in CommandManual.all {
            for status in command.statuses {
                lines += [".TP", "\(status.number)", escaped("\(command.name): \(status.meaning).")]
            }
        }
        lines += [
            ".TP", "64", "The arguments make no sense.", ".TP", "141",
            "The reader of the output has closed it (SIGPIPE).",
        ]
        lines += [
            ".SH ENVIRONMENT", ".TP", "NO_COLOR", "If set and not empty, nothing is coloured, on terminals neither.",
        ]
        lines += [".TP", "TMPDIR", "Where private copies of stores are kept while they are read."]
        return lines.joined(separator: "\n") + "\n"
    }()

    private static func escaped(_ text: some StringProtocol) -> String {
        let plain = String(text).replacing("\\", with: "\\\\").replacing("-", with: "\\-").replacing("“", with: "\\(lq")
            .replacing("”", with: "\\(rq")
            .replacing("…", with: "...").replacing("→", with: "\\(->")
        return plain.first == "." || plain.first == "'" ? "\\&" + plain : plain
    }
}
