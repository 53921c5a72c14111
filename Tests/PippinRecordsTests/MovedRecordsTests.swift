import PippinRecords
import TestSupport
import Testing

@Suite("Overwriting where records own records")
struct MovedRecordsTests {
    @Test("a record that leaves its owner stays, though the owner goes")
    func leaving() throws {
        let folders = try Folders()
        try folders.save(Folder(uid: "a"), Folder(uid: "b", parent: "a"))
        try folders.save(Folder(uid: "b", parent: ""))
        #expect(try folders.uids() == ["b"])
        #expect(try folders.number("SELECT count(*) FROM ZFOLDERRECORD WHERE ZPARENT IS NOT NULL") == 0)
    }

    @Test("a record that would go with its owner is not lost in silence")
    func staying() throws {
        let folders = try Folders()
        try folders.save(Folder(uid: "a"), Folder(uid: "b", parent: "a"))
        let error = try #require(throws: PersistenceError.self) { try folders.save(Folder(uid: "b")) }
        #expect(error.code == .unwritable)
        #expect(error.identifier == "b")
        #expect(try folders.uids() == ["a", "b"])
    }

    @Test("a record that a model leads to stays, though it has no model of its own")
    func ledTo() throws {
        let folders = try Folders()
        try folders.save(Folder(uid: "a"), Folder(uid: "b"))
        try folders.save(Folder(uid: "b", parent: "a"))
        #expect(try folders.uids() == ["a", "b"])
        #expect(
            try folders.number(
                "SELECT count(*) FROM ZFOLDERRECORD b JOIN ZFOLDERRECORD a ON b.ZPARENT = a.Z_PK AND a.ZUID = 'a'") == 1
        )
    }

    @Test("a record that another takes over keeps its place in the store")
    func takenOver() throws {
        let shelf = try Shelf()
        let chapters = [Chapter(uid: 1, title: "One"), Chapter(uid: 2, title: "Two")]
        let emma = Novel(uid: UUID(), title: "Emma", author: .ada, chapters: chapters)
        try shelf.manager.save(entity: NovelRecord.self, model: emma)
        let key = try shelf.number("SELECT Z_PK FROM ZCHAPTERRECORD WHERE ZUID = 2")
        let other = Novel(uid: UUID(), title: "X", author: .ada, chapters: [chapters[1]])
        try shelf.manager.save(entity: NovelRecord.self, models: [other], shouldOverwrite: true)
        #expect(try shelf.strings("SELECT ZTITLE FROM ZNOVELRECORD") == ["X"])
        #expect(try shelf.strings("SELECT Z_PK || ZTITLE FROM ZCHAPTERRECORD") == ["\(key ?? 0)Two"])
    }

    @Test("what the second of two records with one identifier owns goes over to the first")
    func duplicate() throws {
        let shelf = try Shelf()
        let emma = Novel(uid: UUID(), title: "Emma", author: .ada)
        try shelf.manager.save(entity: NovelRecord.self, model: emma)
        var later = Novel(uid: UUID(), title: "Later", chapters: [Chapter(uid: 2, title: "Two")])
        try shelf.manager.save(entity: NovelRecord.self, model: later)
        let key = try shelf.number("SELECT Z_PK FROM ZCHAPTERRECORD")
        try shelf.manager.writeAndWait(in: shelf.manager.newWorkerContext()) { access in
            let second = try NovelRecord.insertOrUpdate(uid: later.uid, in: access.context) { _ in }
            second.setValue(emma.uid, forKey: "uid")
        }
        later = Novel(uid: emma.uid, title: "Both", chapters: later.chapters)
        try shelf.manager.save(entity: NovelRecord.self, model: later)
        #expect(try shelf.strings("SELECT Z_PK || ZTITLE FROM ZNOVELRECORD") == ["1Both"])
        #expect(try shelf.strings("SELECT Z_PK || ZTITLE FROM ZCHAPTERRECORD") == ["\(key ?? 0)Two"])
    }
}
