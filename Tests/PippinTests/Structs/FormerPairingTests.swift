import Pippin
import TestSupport
import Testing

private struct Plate: CoreModel, Equatable { let id: Int }

/// What a store of an earlier build has, which gave the attributes the names in the order of the keys.
private enum Before {
    struct Tome: CoreModel, Equatable {
        let id: Int
        var name: String
        var title: String
        var front: [Plate]?
        var back: [Plate]?
    }
}

private enum Now {
    struct Tome: CoreModel, Equatable {
        let id: Int
        var name: String
        var title: String
        var front: [Plate]?
        var back: [Plate]?

        enum CodingKeys: String, CodingKey { case id, name = "title", title = "subtitle", back = "b", front = "f" }
    }
}

@Suite("Stores whose attributes had the names of other properties")
struct FormerPairingTests {
    @Test("keep their values when they are opened, once")
    func opened() async throws {
        let folder = try TestFolder()
        let file = folder.file("tomes.sqlite")
        func former() -> PersistenceManager { PersistenceManager(models: Before.Tome.self, store: .file(file)) }
        try await former().save([
            Before.Tome(id: 1, name: "title", title: "name", front: [Plate(id: 1), Plate(id: 2)], back: nil),
            Before.Tome(id: 2, name: "T", title: "N", front: nil, back: []),
        ])
        let wanted = [
            Now.Tome(id: 1, name: "name", title: "title", front: nil, back: [Plate(id: 1), Plate(id: 2)]),
            Now.Tome(id: 2, name: "N", title: "T", front: [], back: nil),
        ]
        for _ in 0..<2 {
            let manager = PersistenceManager(models: Now.Tome.self, store: .file(file))
            #expect(try await manager.fetch(Now.Tome.self, sortedBy: .ascending(\.id)) == wanted)
            #expect(try await manager.count(Now.Tome.self, where: \.name == "name") == 1)
            #expect(try plainSQL("SELECT ZNAME || ZTITLE FROM ZTOME ORDER BY ZID", in: file) == ["nametitle", "NT"])
        }
    }
}
