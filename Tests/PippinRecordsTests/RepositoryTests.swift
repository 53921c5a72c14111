import PippinRecords
import Testing

@Suite("Repositories")
struct RepositoryTests {
    let shelf: Shelf

    init() throws {
        shelf = try Shelf()
        try shelf.save([.ada, .blaise, .carl])
    }

    private final class LibraryAccess: DataAccess {
        lazy var people = Repository<PersonRecord, String>(context: context)
        lazy var chapters = Repository<ChapterRecord, Int>(context: context, key: "uid")
        lazy var notes = Repository<NoteRecord, NoKey>(context: context)
    }

    @Test("find, count, create and delete the records of an entity")
    func records() throws {
        let access = LibraryAccess.background(of: shelf.manager)
        try access.context.performAndWait {
            #expect(try access.people.record(with: "b")?.toModel() == .blaise)
            #expect(try access.people.record(with: "z") == nil)
            #expect(try access.people.count(where: NSPredicate(format: "age > 36")) == 2)
            let oldest = try access.people.first(sortDescriptors: [NSSortDescriptor(key: "age", ascending: false)])
            #expect(oldest?.toModel() == .carl)
            #expect(try access.people.deleteAll(where: NSPredicate(format: "age > 36")) == 2)
            try access.save()
        }
        #expect(try shelf.strings("SELECT ZID FROM ZPERSONRECORD") == ["a"])
    }

    @Test("insert or update by key")
    func insertOrUpdate() throws {
        let access = LibraryAccess.background(of: shelf.manager)
        try access.context.performAndWait {
            for title in ["One", "Two"] {
                try access.chapters.insertOrUpdate(7) { $0.setValue(title, forKey: "title") }
            }
            #expect(try access.chapters.all().map { $0.toModel() } == [Chapter(uid: 7, title: "Two")])
        }
    }

    @Test("take back what was not saved")
    func rollback() throws {
        let access = LibraryAccess.background(of: shelf.manager)
        try access.context.performAndWait {
            _ = try access.notes.create()
            #expect(access.hasChanges)
            access.rollback()
            #expect(try access.notes.count() == 0)
        }
    }

    @Test("share one context, the main one for a view")
    @MainActor func view() {
        let access = LibraryAccess.view(of: shelf.manager)
        #expect(access.context === shelf.manager.mainContext)
        #expect(access.people.context === access.context)
    }
}
