import PippinRecords
import Testing

@Suite("Saving models")
struct SavingTests {
    let shelf: Shelf
    var manager: PersistenceManager { shelf.manager }

    init() throws {
        shelf = try Shelf()
    }

    private func names() throws -> [String] { try shelf.strings("SELECT ZNAME FROM ZPERSONRECORD ORDER BY ZID") }

    @Test("inserts what is new")
    func insert() async throws {
        try await manager.save(entity: PersonRecord.self, models: [.ada, .blaise], shouldOverwrite: false)
        #expect(try names() == ["Ada", "Blaise"])
    }

    @Test("updates the record with the same identifier, in place")
    func update() async throws {
        try shelf.save([.ada])
        var countess = Person.ada
        countess.name = "Lovelace"
        try await manager.save(entity: PersonRecord.self, models: [countess], shouldOverwrite: false)
        #expect(try names() == ["Lovelace"])
        #expect(try shelf.number("SELECT Z_PK FROM ZPERSONRECORD") == 1)
        #expect(try shelf.number("SELECT Z_OPT FROM ZPERSONRECORD") == 2)
    }

    @Test("leaves other records alone unless it overwrites")
    func keepsOthers() async throws {
        try shelf.save([.ada, .blaise])
        try await manager.save(entity: PersonRecord.self, models: [.carl], shouldOverwrite: false)
        #expect(try names() == ["Ada", "Blaise", "Carl"])
    }

    @Test("overwriting replaces everything, and keeps the records that match")
    func overwrite() async throws {
        try shelf.save([.ada, .blaise])
        try await manager.save(entity: PersonRecord.self, models: [.blaise, .carl], shouldOverwrite: true)
        #expect(try names() == ["Blaise", "Carl"])
        #expect(try shelf.number("SELECT Z_PK FROM ZPERSONRECORD WHERE ZID = 'b'") == 2)
    }

    @Test("overwriting with nothing deletes everything")
    func overwriteWithNothing() async throws {
        try shelf.save([.ada, .blaise])
        try await manager.save(entity: PersonRecord.self, models: [], shouldOverwrite: true)
        #expect(try names().isEmpty)
    }

    @Test("removes records that share an identifier", arguments: [true, false])
    func duplicates(shouldOverwrite: Bool) async throws {
        let worker = manager.newWorkerContext()
        try worker.performAndWait {
            for name in ["one", "two", "three"] {
                let record = NSEntityDescription.insertNewObject(forEntityName: "PersonRecord", into: worker)
                record.setValue("a", forKey: "id")
                record.setValue(name, forKey: "name")
            }
            try worker.save()
        }
        try await manager.save(entity: PersonRecord.self, models: [.ada], shouldOverwrite: shouldOverwrite)
        #expect(try names() == ["Ada"])
    }

    @Test("takes the later of two models with one identifier")
    func laterWins() throws {
        try shelf.save([.ada, Person(uid: "a", name: "Ada II")])
        #expect(try names() == ["Ada II"])
    }

    @Test("takes texts that Swift calls equal for two identifiers, since their bytes differ")
    func closeIdentifiers() async throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        #expect(composed == decomposed)
        let people = [Person(uid: composed, name: "five bytes"), Person(uid: decomposed, name: "six bytes")]
        try await manager.save(entity: PersonRecord.self, models: people, shouldOverwrite: true)
        let rows = "SELECT length(CAST(ZID AS BLOB)) || ' ' || ZNAME FROM ZPERSONRECORD ORDER BY 1"
        #expect(try shelf.strings(rows) == ["5 five bytes", "6 six bytes"])
        let turned = [Person(uid: decomposed, name: "six again"), Person(uid: composed, name: "five again")]
        try await manager.save(entity: PersonRecord.self, models: turned, shouldOverwrite: true)
        #expect(try shelf.strings(rows) == ["5 five again", "6 six again"])
        #expect(try shelf.number("SELECT MAX(Z_PK) FROM ZPERSONRECORD") == 2)
        try await manager.save(entity: PersonRecord.self, models: [turned[0]], shouldOverwrite: true)
        #expect(try shelf.strings(rows) == ["6 six again"])
    }

    @Test("saves one model as a record")
    func one() async throws {
        try await manager.save(entity: PersonRecord.self, model: .ada)
        #expect(try names() == ["Ada"])
    }

    @Test("saves one model, waiting for it")
    func oneSynchronously() throws {
        try manager.save(entity: PersonRecord.self, model: .ada)
        #expect(try names() == ["Ada"])
    }

    @Test("all or nothing: a model that its record refuses stops the whole save")
    func allOrNothing() async throws {
        let novel = UUID()
        let notes = ["fine", "refuse me"].map { Note(uid: Note.ID($0), novelId: novel, content: $0) }
        await #expect(throws: NoteRecord.Refused.self) {
            try await manager.save(entity: NoteRecord.self, models: notes, shouldOverwrite: false)
        }
        #expect(try shelf.number("SELECT count(*) FROM ZNOTERECORD") == 0)
    }

    @Test("makes one record an identifier, at the same time from many tasks")
    func concurrentSaves() async throws {
        let manager = manager
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<20 {
                group.addTask {
                    let people = ["x", "y", "z"].map { Person(uid: $0, name: "round \(round)") }
                    try await manager.save(entity: PersonRecord.self, models: people, shouldOverwrite: false)
                }
            }
            try await group.waitForAll()
        }
        #expect(try shelf.strings("SELECT ZID FROM ZPERSONRECORD ORDER BY ZID") == ["x", "y", "z"])
        #expect(try shelf.number("SELECT count(DISTINCT ZNAME) FROM ZPERSONRECORD") == 1)
    }

    @Test("is there for the next manager that opens the file")
    func reopened() async throws {
        try shelf.save([.ada])
        let later = PersistenceManager(model: Library.model(), name: "Later", store: .file(shelf.file))
        try await later.load()
        #expect(try await later.fetchModels(entity: PersonRecord.self) == [.ada])
    }
}
