import CoreData
import Testing

@Suite("Undo: objects that are refreshed between changes")
struct RefreshedUndoTests {
    @Test("Refreshing a deleted object, which follows its delete rules again, is not a step to undo")
    func deleted() throws {
        let context = try Library.inMemory().newBackgroundContext()
        try context.performAndWait {
            let tag = context.make("Tag", ["name": "old"])
            let book = context.make("Book", ["tags": NSSet(object: tag)])
            try context.save()
            let manager = UndoManager()
            manager.groupsByEvent = false
            context.undoManager = manager
            context.delete(book)
            context.processPendingChanges()
            tag.setValue("new", forKey: "name")
            context.processPendingChanges()
            context.refreshAllObjects()
            context.processPendingChanges()
            context.undo()
            #expect(tag.string("name") == "old")
            #expect(book.isDeleted)
            context.undo()
            #expect(!book.isDeleted && tag.objects("books") == [book])
            #expect(!manager.canUndo)
        }
    }
}
