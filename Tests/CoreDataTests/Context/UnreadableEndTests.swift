import CoreData
import TestSupport
import Testing

@Suite("The other end of a relationship that is read while objects take what others saved")
struct UnreadableEndTests {
    private let folder: TestFolder
    private let url: URL
    private let container: NSPersistentContainer

    init() throws {
        folder = try TestFolder()
        url = folder.file("library.sqlite")
        container = try Library.stored(at: url)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.make("Shelf", ["code": "1", "book": context.make("Book", ["title": "T"])])
            context.make("Shelf", ["code": "2"])
            try context.save()
        }
    }

    @Test("keeps no deleted object where its row cannot be read, and the error is reported", arguments: [false, true])
    func unreadable(isChanged: Bool) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            let shelf = try #require(book.value(forKey: "shelf") as? NSManagedObject)
            #expect(shelf.string("code") == "1")
            if isChanged { book.setValue("mine", forKey: "title") }
            try execute("DELETE FROM ZSHELF; UPDATE ZBOOK SET Z_ENT = 99 + Z_ENT, ZSHELF = NULL", in: url)
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSDeletedObjectsKey: [shelf.objectID]], into: [context])
            #expect(book.isFault == !isChanged)
            try execute("UPDATE ZBOOK SET Z_ENT = Z_ENT - 99", in: url)
            #expect(book.string("title") == (isChanged ? "mine" : "T"))
            #expect(book.value(forKey: "shelf") == nil)
        }
    }

    @Test("is read again once where a merge policy puts back what does not lead back")
    func oneEnd() throws {
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        context.mergePolicy = NSMergePolicy.rollback
        try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            let shelves = try context.all("Shelf", by: "code")
            book.setValue(shelves[1], forKey: "shelf")
            context.processPendingChanges()
            // As another program may write it.
            try execute("UPDATE ZSHELF SET ZBOOK = NULL", in: url)
            context.refresh(shelves[0], mergeChanges: false)
            #expect(shelves[0].value(forKey: "book") == nil)
            try other.performAndWait {
                try #require(try other.all("Book").first).setValue(5, forKey: "price")
                try other.save()
            }
            try context.save()
            #expect(book.value(forKey: "price") as? Double == 5)
            #expect(book.value(forKey: "shelf") as? NSManagedObject === shelves[0])
            #expect(shelves.map { $0.string("code") } == ["1", "2"])
        }
    }
}
