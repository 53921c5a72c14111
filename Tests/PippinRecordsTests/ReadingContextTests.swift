import PippinRecords
import TestSupport
import Testing

@Suite("Blocks that read in a context")
struct ReadingContextTests {
    private struct Coin: CoreModel {
        let id: String
        var worth: Double
    }

    private let folder: TestFolder
    private let manager: PersistenceManager

    init() throws {
        folder = try TestFolder()
        manager = PersistenceManager(models: Coin.self, store: .file(folder.file("coins.sqlite")))
        try manager.writeAndWait { try $0.save(Coin(id: "EUR", worth: 1)) }
    }

    @Test("refuse what they have changed in a context of the manager's")
    func changedInRead() throws {
        #expect(throws: PersistenceError.changedInRead(entities: ["Coin"])) {
            try manager.readAndWait(in: nil) { try $0.save(Coin(id: "USD", worth: 2)) }
        }
        // The thread's context is as it was.
        #expect(try manager.readAndWait(in: nil) { try $0.fetch(Coin.self).map(\.id) } == ["EUR"])
    }

    @Test("may make an object and delete it again")
    func madeAndDeleted() throws {
        try manager.readAndWait(in: nil) {
            $0.context.delete(NSEntityDescription.insertNewObject(forEntityName: "Coin", into: $0.context))
        }
        #expect(try manager.readAndWait(in: nil) { try $0.fetch(Coin.self).map(\.id) } == ["EUR"])
    }

    @Test("leave changes in a context of the caller's to the caller")
    func changedInOwnContext() async throws {
        let context = manager.newWorkerContext()
        try await manager.read(in: context) { try $0.save(Coin(id: "USD", worth: 2)) }
        try await context.perform { try context.save() }
        #expect(try await manager.count(Coin.self) == 2)
    }

    @Test("tell a completion what they returned")
    func completion() async throws {
        let manager = manager
        let result = await withCheckedContinuation { continuation in
            manager.write { store in
                try store.save(Coin(id: "DKK", worth: 1))
                return 7
            } completion: {
                continuation.resume(returning: $0)
            }
        }
        #expect(try result.get() == 7)
    }
}
