import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration

@Suite("Names of versions that go by several checksums")
struct VersionNamesTests {
    @Test("Checksums that are of one version have one name, over whatever they have in common")
    func names() {
        let names = VersionNames([["apple 1", "ours 1"], ["ours 2"], ["ours 2", "apple 2"], ["printed", "ours 1"]])
        #expect(names.name("printed") == names.name("apple 1"))
        #expect(names.name(of: ["ours 2"]) == names.name("apple 2"))
        #expect(names.name("ours 1") != names.name("ours 2"))
        #expect(names.name("another") == "another")
    }
}
