import Testing

@testable import PippinCommand
@testable import StoreReading

@Suite("The manual")
struct ManualTests {
    @Test("Every command has a help, a place in the manual page and completions")
    func commands() {
        #expect(Set(HelpTopic.allCases.map(\.rawValue)).subtracting(["all"]) == Set(CommandManual.all.map(\.name)))
        for command in CommandManual.all {
            #expect(Usage.text(command).split(separator: "\n").allSatisfy { $0.count <= 130 }, "\(command.name)")
            let name = command.name.replacingOccurrences(of: "-", with: "\\-")
            #expect(ManualPage.text.contains(".B pippin \(name)"))
            for option in command.options {
                for shell in ShellCompletions.allCases {
                    #expect(
                        shell.text.contains(shell == .fish ? "-l \(option.name.dropFirst(2))" : option.name),
                        "\(shell) \(option.name)")
                }
            }
        }
    }

    @Test("Each option of a description is taken by the command, and the other way round")
    func options() {
        for command in CommandManual.all
        where !["browse", "shell", "completions", "manual", "model"].contains(command.name) {
            let words = command.name.split(separator: " ").map(String.init)
            let mistake = CommandRun(arguments: words + ["a", "--nothing"]).errors
            for option in command.options { #expect(mistake.contains(option.name), "\(command.name) \(option.name)") }
            let listed =
                mistake.split(separator: "\n").first?.split(separator: " ").filter {
                    $0.hasPrefix("--") && !$0.hasPrefix("--nothing")
                } ?? []
            #expect(listed.count == command.options.count, "\(command.name): \(listed)")
        }
    }

    @Test("Colours are for terminals that want them")
    func colours() {
        var terminal = Terminal()
        #expect(terminal.bold("x") == "x")
        terminal.hasColours = true
        #expect(terminal.bold("x") == "\u{1B}[1mx\u{1B}[0m")
        #expect(!Terminal(environment: ["NO_COLOR": "1"]).hasColours)
    }

    @Test(
        "A bar shows how much is done",
        arguments: [
            (0, "[····················]   0 %"), (0.355, "[#######·············]  35 %"),
            (1, "[####################] 100 %"),
            (7, "[####################] 100 %"), (-.infinity, "[····················]   0 %"),
            (.nan, "[····················]   0 %"),
        ])
    func bar(_ fraction: Double, _ text: String) { #expect(ProgressLine.bar(fraction) == text) }

    @Test("The program for browsing is looked for beside this one, then in PATH")
    func browser() {
        #expect(
            ProgramLauncher.browse.candidates(executable: "/opt/pippin/bin/pippin", path: "/usr/bin:/bin") == [
                "/opt/pippin/bin/pippin-browse", "/usr/bin/pippin-browse", "/bin/pippin-browse",
            ])
    }
}
