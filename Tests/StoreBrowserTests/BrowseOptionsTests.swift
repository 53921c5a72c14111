import Testing

@testable import PippinBrowse

@Suite("The arguments of browse")
struct BrowseOptionsTests {
    @Test("are those of its description, before the store or after it, with their values beside them or after =")
    func all() throws {
        let options = try BrowseOptions([
            "--write", "--port=8080", "a.sqlite", "--no-open", "--model", "A.momd", "--schema", "shop",
        ])
        #expect(options.store == "a.sqlite")
        #expect(options.port == 8080)
        #expect(options.model == "A.momd")
        #expect(options.schema == "shop")
        #expect(options.isWritable)
        #expect(!options.opensBrowser)
    }

    @Test(
        "are refused where they make no sense",
        arguments: [[], ["a", "b"], ["a", "--port", "70000"], ["a", "--nothing"], ["a", "--model"]])
    func mistakes(arguments: [String]) { #expect(throws: (any Error).self) { try BrowseOptions(arguments) } }
}
