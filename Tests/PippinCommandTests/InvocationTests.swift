import Testing

@testable import PippinCommand

@Suite("Arguments")
struct InvocationTests {
    @Test("Commands take a store and their options, in any order")
    func commands() throws {
        #expect(try Invocation(["info", "a.sqlite"]) == .info(.init(store: "a.sqlite")))
        #expect(
            try Invocation(["info", "--model", "m.momd", "a.sqlite"])
                == .info(.init(store: "a.sqlite", model: "m.momd")))
        #expect(
            try Invocation(["dump", "--json", "a.sqlite", "--entity=Car"])
                == .dump(.init(store: "a.sqlite", entity: "Car", asJSON: true)))
        #expect(try Invocation(["dump", "--", "--json"]) == .dump(.init(store: "--json")))
        #expect(try Invocation(["info", "--help"]) == .help(.info))
        #expect(try Invocation(["model", "diff", "--help"]) == .help(.diff))
        #expect(try Invocation(["--version"]) == .version)
    }

    @Test(
        "Arguments that make no sense are named",
        arguments: [
            (
                [],
                "a command is missing; info, dump, query, export, import, check, report, browse, shell, migrate or model expected"
            ),
            (
                ["show"],
                "there is no command “show”; info, dump, query, export, import, check, report, browse, shell, migrate or model expected"
            ),
            (["info"], "info needs the path of a store"),
            (["info", "a", "b"], "info takes one store; “b” is one too many"),
            (["info", "a", "--json"], "info has no option “--json”; it has --model"),
            (["dump", "a", "--entity"], "--entity needs a value"),
            (["dump", "a", "--entity", "A", "--entity=B"], "--entity is there twice"),
        ])
    func mistakes(arguments: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try Invocation(arguments) }
        #expect(error?.message == message)
    }

    @Test("A mistake exits with 64 and shows the usage; help exits with 0")
    func statuses() {
        let mistake = CommandRun("dump")
        #expect(mistake.status == 64)
        #expect(mistake.output.isEmpty)
        #expect(
            mistake.errors == """
                pippin: dump needs the path of a store

                Usage: pippin dump STORE [--entity NAME] [--json] [--model MODEL]
                Try “pippin dump --help”.

                """)
        #expect(CommandRun("model", "diff", "a.momd").errors.contains("\nUsage: pippin model diff "))
        for unknown in [CommandRun("dmup"), CommandRun()] {
            #expect(unknown.status == 64)
            #expect(unknown.errors.contains("\nUsage: pippin info STORE"))
            #expect(unknown.errors.contains("\n       pippin dump STORE"))
        }
        let help = CommandRun("--help")
        #expect(help.status == 0)
        #expect(help.output.contains("pippin dump STORE [--entity NAME] [--json] [--model MODEL]"))
    }
}
