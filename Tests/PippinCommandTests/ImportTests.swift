import CoreData
import TestSupport
import Testing

@testable import PippinCommand
@testable import StoreReading

@Suite("pippin import")
struct ImportTests {
    private let store: SmallStore
    private let file: URL

    init() throws {
        store = try SmallStore { $0.entitiesByName["Author"]?.uniquenessConstraints = [["name"]] }
        file = store.folder.file("authors.json")
    }

    private func run(_ text: String) throws -> CommandRun {
        try text.write(to: file, atomically: true, encoding: .utf8)
        return CommandRun("import", store.path, "Author", file.path)
    }

    @Test(
        "refuses a number or a Boolean where a text belongs, and names element and property", arguments: ["5", "true"])
    func literal(value: String) throws {
        let run = try run("[{\"name\": \(value)}]")
        #expect(run.status == 1)
        let text = "authors.json, element 1: “name” needs a text (in quotation marks), and is “\(value)”"
        #expect(run.errors == "pippin: \(text)\n")
    }

    @Test("says what can be done about a duplicate on a command line")
    func duplicate() throws {
        let run = try run("[{\"name\": \"A\"}, {\"name\": \"A\"}]")
        #expect(run.status == 1)
        #expect(run.errors.contains("Take it out of the file, or delete the one in the store."), "\(run.errors)")
        #expect(!run.errors.contains("mergePolicy"))
    }

    @Test("reads the standard input for “-”, whose format must be named")
    func standardInput() throws {
        let run = CommandRun("import", store.path, "Author", "-")
        #expect(run.status == 64)
        #expect(run.errors.hasPrefix("pippin: the standard input does not say what is in it: --format"))
        #expect(try ImportOptions([store.path, "Author", "-", "--format", "csv"]).file == "-")
    }

    @Test("An argument that is not UTF-8 is named as that, and not as a file that is missing")
    func bytes() {
        var errors = ""
        let bytes = [Array("info".utf8), [0x73, 0xE9]]
        let status = PippinCommand.run(
            ["info", "s\u{FFFD}"], bytes: bytes, output: { _ in }, errors: { errors += $0 })
        #expect(status == 64)
        #expect(errors.hasPrefix("pippin: argument 2, “s\u{FFFD}”, is not UTF-8."), "\(errors)")
    }
}
