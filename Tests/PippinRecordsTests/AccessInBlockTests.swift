import PippinRecords
import TestSupport
import Testing

private struct Florin: CoreModel, Equatable {
    let id: String
    var worth: Double
}

@Suite("Accesses to contexts within blocks that write")
struct AccessInBlockTests {
    private let folder: TestFolder
    private let manager: PersistenceManager
    private var file: URL { folder.file("florins.sqlite") }

    init() throws {
        folder = try TestFolder()
        manager = PersistenceManager(models: Florin.self, store: .file(folder.file("florins.sqlite")))
        try manager.loadAndWait()
    }

    private func ids() throws -> [String] { try plainSQL("SELECT ZID FROM ZFLORIN ORDER BY ZID", in: file) }

    @Test("save with the block what is saved through one to its context")
    func sameContext() throws {
        try manager.writeAndWait { store in
            let access = DataAccess(manager: manager, context: try store.context)
            try access.save(Florin(id: "a", worth: 2))
            #expect(try access.fetch(Florin.self) == [Florin(id: "a", worth: 2)])
            #expect(try store.count(Florin.self) == 1)
        }
        #expect(try ids() == ["a"])
    }

    @Test("save at once what is saved in a block in another context")
    func otherContext() async throws {
        let other = manager.newWorkerContext()
        try manager.writeAndWait { _ in
            try manager.writeAndWait(in: other) { try $0.save(Florin(id: "a", worth: 1)) }
        }
        #expect(try ids() == ["a"])
        try await manager.write { _ in
            try manager.writeAndWait(in: other) { try $0.save(Florin(id: "b", worth: 1)) }
        }
        #expect(try ids() == ["a", "b"])
    }

    @Test("save nothing when the block fails")
    func failure() throws {
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try manager.writeAndWait { store in
                try DataAccess(manager: manager, context: try store.context).save(Florin(id: "a", worth: 2))
                throw Failure()
            }
        }
        #expect(try ids() == [])
    }
}
