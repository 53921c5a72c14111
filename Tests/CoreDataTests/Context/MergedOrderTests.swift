import CoreData
import Testing

@Suite("An ordered relationship whose order was changed here, and whose members others have changed")
struct MergedOrderTests {
    private let container: NSPersistentContainer

    init() throws { container = try Library.inMemory() }

    private func titles(_ book: NSManagedObject) -> [String] {
        ((book.value(forKey: "chapters") as? NSOrderedSet)?.array ?? []).compactMap {
            ($0 as? NSManagedObject)?.string("title")
        }
    }

    @Test(
        "keeps the order, lacks what others removed, and has what they added at the end; saved, so is the store",
        arguments: [true, false])
    func merged(isReadBeforeSaving: Bool) throws {
        let (here, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        here.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        here.automaticallyMergesChangesFromParent = true
        let book = try here.performAndWait {
            let book = here.make("Book", ["title": "Emma"])
            for title in ["1", "2", "3"] { here.make("Chapter", ["title": title, "book": book]) }
            try here.save()
            let chapters = book.mutableOrderedSetValue(forKey: "chapters")
            chapters.exchangeObject(at: 0, withObjectAt: 2)
            chapters.insert(here.make("Chapter", ["title": "mine"]), at: 1)
            #expect(titles(book) == ["3", "mine", "2", "1"])
            return book
        }
        try other.performAndWait {
            let book = try #require(try other.all("Book").first)
            for chapter in try other.all("Chapter", NSPredicate(format: "title == '2'")) { other.delete(chapter) }
            other.make("Chapter", ["title": "theirs", "book": book])
            try other.save()
        }
        try here.performAndWait {
            if isReadBeforeSaving {
                #expect(titles(book) == ["3", "mine", "1", "theirs"])
                #expect(try here.all("Chapter").allSatisfy { $0.value(forKey: "book") as? NSManagedObject === book })
            }
            try here.save()
            #expect(titles(book) == ["3", "mine", "1", "theirs"])
        }
        let reader = container.newBackgroundContext()
        try reader.performAndWait {
            let stored = try #require(try reader.all("Book").first)
            #expect(titles(stored) == ["3", "mine", "1", "theirs"])
        }
    }

    @Test("has its stored order again after a rollback")
    func rolledBack() throws {
        let here = container.newBackgroundContext()
        try here.performAndWait {
            let book = here.make("Book", ["title": "Emma"])
            for title in ["1", "2", "3"] { here.make("Chapter", ["title": title, "book": book]) }
            try here.save()
            book.mutableOrderedSetValue(forKey: "chapters").exchangeObject(at: 0, withObjectAt: 2)
            here.refresh(book, mergeChanges: true)
            #expect(titles(book) == ["3", "2", "1"] && book.hasChanges)
            here.rollback()
            #expect(titles(book) == ["1", "2", "3"] && !here.hasChanges)
        }
    }
}
