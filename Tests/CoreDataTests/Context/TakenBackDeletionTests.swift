import CoreData
import Testing

@MainActor @Suite("A deleted object that is inserted again before the save")
struct TakenBackDeletionTests {
    private let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }
    private let author: NSManagedObject
    private let book: NSManagedObject
    private let tag: NSManagedObject

    init() throws {
        container = try Library.inMemory()
        let context = container.viewContext
        tag = context.make("Tag", ["name": "T"])
        book = context.make("Book", ["title": "B", "tags": Set([tag])])
        author = context.make("Author", ["name": "A", "books": Set([book])])
        context.make("Chapter", ["title": "C", "book": book])
        try context.save()
    }

    @Test("stays, with both ends of its relationships", arguments: [false, true])
    func stays(afterProcessing: Bool) throws {
        context.delete(book)
        if afterProcessing { context.processPendingChanges() }
        context.insert(book)
        #expect(!book.isDeleted && !book.isInserted && context.deletedObjects.contains(book) == false)
        #expect(author.objects("books") == [book] && tag.objects("books") == [book])
        try context.save()
        context.refreshAllObjects()
        #expect(book.string("title") == "B" && book.objects("tags") == [tag])
        #expect(author.objects("books") == [book] && tag.objects("books") == [book])
        let chapters = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Chapter"))
        // Its rules had deleted the chapter, whose deletion nobody took back.
        #expect(chapters == (afterProcessing ? 0 : 1))
    }

    @Test("takes its changes along")
    func changed() throws {
        book.setValue("Changed", forKey: "title")
        context.delete(book)
        context.insert(book)
        try context.save()
        context.refreshAllObjects()
        #expect(book.string("title") == "Changed")
    }

    @Test("is reported as changed, and not as deleted")
    func reported() {
        nonisolated(unsafe) var keys: [String] = []
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { keys += ($0.userInfo ?? [:]).keys.map { "\($0)" } }
        context.delete(tag)
        context.insert(tag)
        context.processPendingChanges()
        NotificationCenter.default.removeObserver(token)
        #expect(keys == [NSUpdatedObjectsKey])
    }

    @Test("does not lead to an object that is still deleted")
    func deletedDestination() throws {
        context.delete(author)
        context.processPendingChanges()
        #expect(book.isDeleted)
        context.insert(book)
        try context.save()
        #expect(book.value(forKey: "author") == nil && !book.isDeleted)
    }
}
