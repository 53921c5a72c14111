import StoreReading

/// What `--help` prints, made of the descriptions. Pure.
enum Usage {
    private static let width = 112

    /// What is shown with a mistake: the usage of the command that it was made in, or of all where there is no such
    /// command.
    static func summary(of arguments: [String]) -> String {
        // `model diff` is a command of two words.
        let names = [arguments.prefix(2).joined(separator: " "), arguments.first ?? ""]
        guard let command = names.lazy.compactMap(CommandManual.command).first else { return summary }
        let lines = command.usage.enumerated().map {
            ($0.offset == 0 ? "Usage: pippin " : "       pippin ") + "\(command.name) \($0.element)"
        }
        return lines.joined(separator: "\n") + "\nTry “pippin \(command.name) --help”.\n"
    }

    private static let summary = "“pippin” alone shows the commands, and “pippin help” more of each.\n"

    /// What `pippin` alone prints: what people want first, in fifteen lines.
    static let front: String = {
        let first = ["info", "query", "browse", "export", "import", "check", "migrate", "copy", "model"]
        let shown = first.compactMap(CommandManual.command).map { command in
            let words = (command.usage.first ?? "").split(separator: " ").prefix { !$0.hasPrefix("[") }
            return [
                "pippin \(command.name) \(words.joined(separator: " ").replacing("STORE|URL", with: "STORE"))",
                command.summary,
            ]
        }
        let width = (shown.map { $0[0].count }.max() ?? 0) + 2
        let others = CommandManual.commands.filter { !first.contains($0) }
        return
            ([
                "pippin looks into stores of Pippin and Core Data, and changes them when asked:", "",
            ] + shown.map { "  " + TextTools.padded($0[0], width) + $0[1] } + [
                "", "For example: pippin query books.sqlite 'Book where price > 10 order by title limit 20'",
                "Also: \(others.joined(separator: ", ")).",
                "“pippin help” says more of all, “pippin COMMAND --help” of one.",
            ]).joined(separator: "\n") + "\n"
    }()

    static func text(_ topic: HelpTopic) -> String {
        topic == .all ? overview : CommandManual.command(topic.rawValue).map(text) ?? overview
    }

    private static let overview: String = {
        var lines = [CommandManual.purpose, "", "Usage:"]
        for command in CommandManual.all where !command.name.contains(" ") {
            lines += command.usage.map { "  pippin \(command.name) \($0)" }
            lines += wrapped(command.text.split(separator: "\n").first.map(String.init) ?? "", indent: 6) + [""]
        }
        lines += ["“pippin COMMAND --help” says more, with the options.", ""]
        lines += [
            "Exit status: 0; 1 when a store or model cannot be read or is wrong, or the output cannot be written;",
            "2 and 3 as “model diff” and “check” say; 64 when the arguments make no sense.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }()

    static func text(_ command: CommandDescription) -> String {
        var lines = command.usage.map { "pippin \(command.name) \($0)" }
        for paragraph in command.text.split(separator: "\n") { lines += wrapped(String(paragraph), indent: 4) }
        if !command.options.isEmpty { lines.append("") }
        let names = command.options.map { [$0.name, $0.value].compactMap { $0 }.joined(separator: " ") }
        let column = min(24, (names.map(\.count).max() ?? 0) + 2)
        for (option, name) in zip(command.options, names) {
            var text = wrapped(option.text, indent: 4 + column)
            if name.count + 2 <= column, let first = text.first {
                text[0] = "    " + TextTools.padded(name, column) + first.drop { $0 == " " }
            } else {
                text.insert("    " + name, at: 0)
            }
            lines += text
        }
        if !command.statuses.isEmpty {
            let list = command.statuses.map { "\($0.number) when \($0.meaning)" }.joined(separator: "; ")
            lines += ["", "    Exit status: 0; \(list)."]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A paragraph in lines; one that is indented itself is an example, and stays as it is.
    static func wrapped(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        if text.hasPrefix("    ") { return [margin + text] }
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(margin + line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return lines + [margin + line]
    }
}
