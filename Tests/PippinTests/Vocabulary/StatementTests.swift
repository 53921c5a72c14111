import Pippin
import TestSupport
import Testing

@Suite("The statement of a request")
struct StatementTests {
    @Test("is what the store will run, with a place for each value")
    func sql() async throws {
        let folder = try TestFolder()
        let manager = PersistenceManager(models: Novelist.self, store: .file(folder.file("a.sqlite")))
        let request = ModelRequest(Novelist.self).filter(\.name == "Jane Austen").sorted(by: .descending(\.name)).limit(
            5)
        #expect(
            try await request.sql(in: manager)
                == "SELECT t0.Z_PK, t0.Z_OPT, t0.ZID, t0.ZNAME FROM ZNOVELIST t0 WHERE t0.ZNAME = ? ORDER BY t0.ZNAME DESC, t0.ZID LIMIT ?"
        )
    }

    @Test("is refused where the request would be")
    func refused() async throws {
        let folder = try TestFolder()
        let manager = PersistenceManager(models: Novelist.self, store: .file(folder.file("a.sqlite")))
        let request = ModelRequest(Novelist.self).filter(\.name.count > 3)
        await #expect { try await request.sql(in: manager) } throws: { error in
            (error as? PersistenceError)?.code == .unknownProperty
        }
    }
}
