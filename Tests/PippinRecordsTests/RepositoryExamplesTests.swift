import PippinRecords
import Testing

@Suite("The examples of iiwi")
struct IiwiExamplesTests {
    /// Creating takes the arguments that the entity needs; queries of one's own are methods.
    private final class ChapterRepository: Repository<ChapterRecord, Int> {
        func create(uid: Int, title: String) throws -> ChapterRecord {
            let chapter = try create()
            chapter.setValue(uid, forKey: "uid")
            chapter.setValue(title, forKey: "title")
            return chapter
        }

        func titled(_ title: String) throws -> [ChapterRecord] {
            try all(where: NSPredicate(format: "title == %@", title))
        }
    }

    private final class DatabaseAccess: DataAccess {
        lazy var chapters = ChapterRepository(context: context, key: "uid")
        lazy var notes = Repository<NoteRecord, NoKey>(context: context)
    }

    let shelf: Shelf

    init() throws { shelf = try Shelf() }

    @Test("repositories create, find by primary key, and delete; the access saves")
    func repositories() throws {
        let access = DatabaseAccess.background(of: shelf.manager)
        try access.context.performAndWait {
            let highfield = try access.chapters.create(uid: 1, title: "Highfield")
            _ = try access.chapters.create(uid: 2, title: "Miss Taylor")
            #expect(try access.chapters.record(with: 2)?.toModel().title == "Miss Taylor")
            #expect(try access.chapters.titled("Highfield") == [highfield])
            access.chapters.delete(highfield)
            try access.save()
        }
        #expect(try shelf.strings("SELECT ZTITLE FROM ZCHAPTERRECORD") == ["Miss Taylor"])
        try access.context.performAndWait {
            #expect(try access.chapters.deleteAll() == 1)
            try access.save()
        }
        #expect(try shelf.number("SELECT count(*) FROM ZCHAPTERRECORD") == 0)
    }

    @Test("an entity without a primary key has a repository too")
    func noKey() throws {
        let access = DatabaseAccess.background(of: shelf.manager)
        try access.context.performAndWait {
            try access.notes.create().setValue("n", forKey: "uid")
            #expect(try access.notes.all().count == 1)
        }
    }
}
