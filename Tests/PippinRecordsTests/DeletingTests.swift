import PippinRecords
import TestSupport
import Testing

@Suite("Deleting")
struct DeletingTests {
    let shelf: Shelf
    var manager: PersistenceManager { shelf.manager }

    init() throws {
        shelf = try Shelf()
        try shelf.save([.ada, .blaise, .carl])
    }

    private func names() throws -> [String] { try shelf.strings("SELECT ZNAME FROM ZPERSONRECORD ORDER BY ZID") }

    @Test("takes identifiers, and returns how many there were")
    func byUids() async throws {
        #expect(try await manager.deleteRecords(entity: PersonRecord.self, uids: ["a", "c", "z"]) == 2)
        #expect(try names() == ["Blaise"])
    }

    @Test("takes one model, of which only the identifier matters")
    func byModel() async throws {
        let model = Person(uid: "a", name: "whoever")
        #expect(try await manager.deleteModel(entity: PersonRecord.self, model: model) == 1)
        #expect(try await manager.deleteModel(entity: PersonRecord.self, model: model) == 0)
        #expect(try names() == ["Blaise", "Carl"])
    }

    @Test("takes several models at once")
    func byModels() async throws {
        try await manager.deleteModels(entity: PersonRecord.self, models: [.ada, .blaise])
        #expect(try names() == ["Carl"])
    }

    @Test("takes a predicate of records")
    func byPredicate() async throws {
        let predicate = NSPredicate(format: "age > %@", 38)
        #expect(try await manager.deleteRecords(entity: PersonRecord.self, predicate: predicate) == 2)
        #expect(try names() == ["Ada"])
    }

    @Test("takes all records of an entity in one batch, and the contexts hear of it")
    @MainActor func batch() throws {
        let main = manager.mainContext
        let held = try manager.fetchRecords(entity: PersonRecord.self, context: main)
        #expect(try manager.deleteAll(entity: PersonRecord.self) == 3)
        #expect(try names().isEmpty)
        #expect(held.allSatisfy { $0.isDeleted || $0.managedObjectContext == nil })
    }

    @Test("takes no record of an entity in one batch where a rule denies the deletion of one")
    func denied() async throws {
        let folder = try TestFolder()
        let model = Library.model()
        model.entitiesByName["PersonRecord"]?.relationshipsByName["novels"]?.deleteRule = .denyDeleteRule
        let manager = PersistenceManager(model: model, name: "Library", store: .file(folder.file("denying.sqlite")))
        try await manager.load()
        let novel = Novel(uid: UUID(), title: "Emma", author: .ada)
        try await manager.save(entity: NovelRecord.self, model: novel)
        try await manager.save(entity: PersonRecord.self, model: .blaise)
        await #expect(throws: (any Error).self) { try await manager.deleteAll(entity: PersonRecord.self) }
        #expect(try await manager.fetchModels(entity: PersonRecord.self).count == 2)
    }

    @Test("takes all records of an entity, off the calling thread")
    func batchAsync() async throws {
        #expect(try await manager.deleteAll(entity: PersonRecord.self) == 3)
        #expect(try await manager.fetchModels(entity: PersonRecord.self).isEmpty)
    }

    @Test("takes all records of an entity in chunks", arguments: [1, 2, 3, 100])
    func chunks(size: Int) async throws {
        #expect(try await manager.deleteAll(entity: PersonRecord.self, inChunksOf: size) == 3)
        #expect(try names().isEmpty)
    }

    @Test("takes the same where the caller waits")
    func synchronous() throws {
        #expect(try manager.deleteRecords(entity: PersonRecord.self, uids: ["a"]) == 1)
        #expect(try manager.deleteModel(entity: PersonRecord.self, model: .blaise) == 1)
        #expect(try manager.deleteRecords(entity: PersonRecord.self, predicate: NSPredicate(value: true)) == 1)
        #expect(try manager.deleteAll(entity: PersonRecord.self, inChunksOf: 10) == 0)
    }
}
