import CoreData
import TestSupport
import Testing

@testable import PippinCommand

@Suite("What a store says of itself, and pippin check")
struct BookkeepingTests {
    @Test(
        "An invalid UUID, a wrong superentity, and an entity without a number are found",
        arguments: [
            (
                "UPDATE Z_METADATA SET Z_UUID = 'abc'",
                "file       the UUID of the store (Z_METADATA.Z_UUID) is “abc”, and no valid UUID\n"
            ),
            (
                "UPDATE Z_PRIMARYKEY SET Z_SUPER = 0 WHERE Z_NAME = 'Novel'",
                "entity     the superentity of “Novel” (Z_PRIMARYKEY.Z_SUPER) is none, and in the model it is “Book”\n"
            ),
            (
                "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Novel'",
                "entity     Z_PRIMARYKEY has no row for “Novel”, so that no object of it can be saved\n"
            ),
        ])
    func wrong(sql: String, text: String) throws {
        let store = try SmallStore { model in
            let novel = NSEntityDescription()
            novel.name = "Novel"
            model.entitiesByName["Book"]?.subentities = [novel]
            model.entities.append(novel)
        }
        #expect(CommandRun("check", store.path).status == 0)
        try execute(sql, in: store.folder.store)
        let run = CommandRun("check", store.path)
        #expect(run.status == 3)
        #expect(run.output.contains(text), "\(run.output)")
    }
}
