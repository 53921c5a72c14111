import Testing

@testable import PippinCommand
@testable import StoreReading

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
        #expect(throws: UsageError.self) { try Invocation(["help", "nonsense"]) }
        #expect(try Invocation(["--version"]) == .version)
    }

    @Test(
        "Arguments that make no sense are named",
        arguments: [
            ([], "a command is missing"),
            (
                ["show"],
                "there is no command “show”; there are \(CommandManual.commands.joined(separator: ", "))"
            ),
            (["info"], "info needs the path of a store"),
            (["info", "a", "b"], "info takes one store; “b” is one too many"),
            (["info", "a", "--json"], "info has no option “--json”; it has --at-commit, --evidence, --model"),
            (["query", "a"], "query needs a query in quotes as well"),
            (
                ["query", "a", "Book", "where", "pages"],
                "the query is one argument, in quotation marks: pippin query STORE 'Book where pages'"
            ),
            (["import", "a", "b", "c", "d"], "import takes a store, an entity and a file; “d” is one too many"),
            (["dump", "a", "--entity"], "--entity needs a value"),
            (["dump", "a", "--entity", "A", "--entity=B"], "--entity is there twice"),
        ])
    func mistakes(arguments: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try Invocation(arguments) }
        #expect(error?.message == message)
    }

    @Test(
        "What is asked of stores on servers goes to the program that does it, in its words",
        arguments: [
            (["copy", "a.sqlite", "postgresql://h/d"], ["copy", "a.sqlite", "postgresql://h/d"]),
            (["copy", "host=h dbname=d", "a.sqlite"], ["copy", "host=h dbname=d", "a.sqlite"]),
            (
                ["copy", "a.xml", "postgresql://h/d", "--model", "m"],
                ["copy", "a.xml", "postgresql://h/d", "--model", "m"]
            ),
            (["info", "postgres://h/d"], ["info", "postgres://h/d"]),
            (
                ["dump", "postgresql://h/d", "--entity", "Car", "--json"],
                ["dump", "--json", "postgresql://h/d", "Car"]
            ),
            (["migrate", "postgresql://h/d", "--to", "m.mom"], ["migrate", "postgresql://h/d", "m.mom"]),
            (
                ["migrate", "postgresql://h/d", "--to", "m", "--dry-run"],
                ["migrate", "--sql", "postgresql://h/d", "m"]
            ),
            (
                ["migrate", "postgresql://h/d", "--to", "m", "--version", "2"],
                ["migrate", "postgresql://h/d", "m", "2"]
            ),
            (
                ["query", "postgresql://h/d", "Car where year > 2000", "--format", "csv"],
                ["query", "postgresql://h/d", "Car where year > 2000", "--format", "csv"]
            ),
            (["export", "postgresql://h/d", "Car"], ["export", "postgresql://h/d", "Car"]),
            (["import", "postgresql://h/d", "Car", "a.csv"], ["import", "postgresql://h/d", "Car", "a.csv"]),
            (["migrate", "a.sqlite", "--sql", "--to", "m.mom"], ["migrate", "--sql", "a.sqlite", "m.mom"]),
            (
                ["model", "extract", "postgresql://h/d", "--output", "m.xcdatamodeld", "--force"],
                ["model", "extract", "--force", "postgresql://h/d", "m.xcdatamodeld"]
            ),
        ])
    func servers(arguments: [String], handedOver: [String]) throws {
        #expect(try Invocation(arguments) == .launch(.postgres, handedOver))
    }

    @Test(
        "What is done with files only is refused for servers",
        arguments: [
            (["copy", "a.sqlite"], "copy needs a store, and where to copy it to"),
            (
                ["check", "postgresql://h/d"],
                // The connection string may have a password in it, and is not said again.
                "check takes a file: “pippin copy URL FILE” makes one of a store on a server, “pippin browse URL” shows it"
            ),
            (
                ["info", "postgresql://h/d", "--model", "m"],
                "--model is for files: a store on a server has its own model"
            ),
            (
                ["migrate", "postgresql://h/d", "--to", "m", "--mappings", "f"],
                "--mappings is for files, and not for --sql and stores on servers"
            ),
        ])
    func onlyFiles(arguments: [String], message: String) {
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

                Usage: pippin dump STORE|URL [--entity NAME] [--json] [--decode] [--raw] [--at-commit NUMBER] [--evidence FILE] [--model MODEL] …
                Try “pippin dump --help”.

                """)
        #expect(CommandRun("model", "diff", "a.momd").errors.contains("\nUsage: pippin model diff "))
        #expect(CommandRun("dmup").status == 64)
        #expect(CommandRun("dmup").errors.hasPrefix("pippin: there is no command “dmup”; “dump” may be meant\n"))
        let help = CommandRun("--help")
        #expect(help.status == 0)
        #expect(help.output.contains("pippin dump STORE|URL [--entity NAME] [--json] [--decode]"))
    }
}
