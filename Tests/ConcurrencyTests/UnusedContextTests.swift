import TestSupport
import Testing

@Suite("A context that merges automatically, in a program that listens to no notifications", .ownThread)
struct UnusedContextTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("shows what was saved before it was used, what was saved afterwards, and what was deleted")
    func news() throws {
        let end = try Child("unused", folder.store, 0).wait()
        #expect(end.complaint == "")
        #expect(end.lines == ["before it was used", "after it was used", "deleted elsewhere"])
    }
}
