import PippinRecords
import Testing

@Suite("Work on the main actor that waits for its turn to write")
struct MainActorWriteTests {
    @Test("reads the main context within, as the main thread does")
    @MainActor func mainContext() throws {
        let shelf = try Shelf()
        try shelf.save([.ada])
        let manager = shelf.manager
        let found = try manager.writeAndWait { _ in
            try manager.fetchRecords(entity: PersonRecord.self, context: manager.mainContext).count
        }
        #expect(found == 1)
    }

    @Test("has the main context as its thread's")
    @MainActor func threadContext() throws {
        let manager = try Shelf().manager
        #expect(try manager.writeAndWait { _ in manager.contextForThread() === manager.mainContext })
    }
}
