import PippinRecords
import Testing

@Suite("Structs within structs")
struct RelationshipTests {
    let shelf: Shelf
    var manager: PersistenceManager { shelf.manager }
    let emma = Novel(
        uid: UUID(), title: "Emma", author: .ada,
        chapters: [Chapter(uid: 1, title: "Highfield"), Chapter(uid: 2, title: "Miss Taylor")])

    init() throws {
        shelf = try Shelf()
    }

    private func save(_ novels: Novel...) async throws {
        try await manager.save(entity: NovelRecord.self, models: novels, shouldOverwrite: false)
    }

    @Test("come back as they went in")
    func roundTrip() async throws {
        try await save(emma)
        #expect(try await manager.fetchModel(entity: NovelRecord.self, uid: emma.uid) == emma)
    }

    @Test("share the record that their identifier finds")
    func sharedAuthor() async throws {
        var persuasion = emma
        persuasion = Novel(uid: UUID(), title: "Persuasion", author: .ada)
        try await save(emma, persuasion)
        #expect(try shelf.number("SELECT count(*) FROM ZPERSONRECORD") == 1)
        #expect(try shelf.number("SELECT count(DISTINCT ZAUTHOR) FROM ZNOVELRECORD") == 1)
    }

    @Test("leave and join the one that owns them")
    func ownedArray() async throws {
        try await save(emma)
        var shorter = emma
        shorter.chapters = [Chapter(uid: 2, title: "Miss Taylor, again"), Chapter(uid: 3, title: "Mr. Knightley")]
        try await save(shorter)
        #expect(try await manager.fetchModel(entity: NovelRecord.self, uid: emma.uid) == shorter)
        #expect(try shelf.strings("SELECT ZTITLE FROM ZCHAPTERRECORD WHERE ZNOVEL IS NULL") == ["Highfield"])
    }

    @Test("go with the one that owns them, where the delete rule says so")
    func cascade() async throws {
        try await save(emma)
        try await manager.deleteModel(entity: NovelRecord.self, model: emma)
        #expect(try shelf.number("SELECT count(*) FROM ZCHAPTERRECORD") == 0)
        #expect(try shelf.number("SELECT count(*) FROM ZPERSONRECORD") == 1)
    }

    @Test("are fetched by their parent's identifier if they refer back")
    func backReference() async throws {
        let other = UUID()
        let notes = [
            Note(uid: Note.ID("n1"), novelId: emma.uid, content: "badly done"),
            Note(uid: Note.ID("n2"), novelId: other, content: "elsewhere"),
            Note(uid: Note.ID("n3"), novelId: emma.uid, content: "well done"),
        ]
        try await manager.save(entity: NoteRecord.self, models: notes, shouldOverwrite: false)
        let found = try await manager.fetchModels(
            entity: NoteRecord.self, predicate: NSPredicate(format: "novelId == %@", emma.uid),
            sortDescriptors: [NSSortDescriptor(key: "content", ascending: true)])
        #expect(found.map(\.content) == ["badly done", "well done"])
    }

    @Test("need a context to be converted")
    func noContext() {
        #expect(throws: PersistenceError.noContext(entity: "PersonRecord")) {
            try PersonRecord.record(from: .ada, in: nil)
        }
    }
}
