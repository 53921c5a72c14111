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

    @Test("give each store a port of its own, which is the same in each run")
    func port() throws {
        let one = try BrowseOptions(["/tmp/a.sqlite"]).usualPort
        #expect(try BrowseOptions(["/tmp/b/../a.sqlite", "--write"]).usualPort == one)
        #expect(try BrowseOptions(["/tmp/b.sqlite"]).usualPort != one)
        #expect((49_152..<65_536).contains(one))
    }

    @Test(
        "are refused where they make no sense",
        arguments: [[], ["a", "b"], ["a", "--port", "70000"], ["a", "--nothing"], ["a", "--model"]])
    func mistakes(arguments: [String]) { #expect(throws: (any Error).self) { try BrowseOptions(arguments) } }
}
