import CoreData
import Testing

@Suite("Memory: what keeps objects and contexts alive")
struct MemoryTests {
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
        try context.performAndWait {
            context.make("Book", ["title": "T", "author": context.make("Author", ["name": "A"])])
            try context.save()
            // Objects that know one another through a relationship keep each other, as Core Data's do.
            context.reset()
        }
    }

    @Test("An object without changes goes when nobody has it; a changed one stays until it is saved")
    func changedObjects() throws {
        try context.performAndWait {
            weak var author: NSManagedObject?
            author = try context.all("Author").first
            #expect(author == nil)
            try context.all("Author").first?.setValue("B", forKey: "name")
            author = context.updatedObjects.first
            #expect(author != nil)
            try context.save()
            #expect(author == nil)
        }
    }

    @Test("A refreshed object gives up its relationships, and with them the objects that they kept")
    func refreshed() throws {
        try context.performAndWait {
            weak var book: NSManagedObject?
            let author = try #require(try context.all("Author").first)
            book = author.objects("books").first
            #expect(book != nil)
            context.refresh(author, mergeChanges: false)
            context.processPendingChanges()
            #expect(book == nil)
        }
    }

    @Test("retainsRegisteredObjects keeps all objects until it is turned off or the context is reset")
    func retaining() throws {
        try context.performAndWait {
            context.retainsRegisteredObjects = true
            weak var author: NSManagedObject?
            author = try context.all("Author").first
            #expect(author != nil)
            context.reset()
            #expect(author == nil)
        }
    }

    @Test("A context goes with its last reference, even with changes, and its objects have none then")
    func contexts() throws {
        weak var gone: NSManagedObjectContext?
        var object: Unchecked<NSManagedObject>?
        do {
            let short = container.newBackgroundContext()
            gone = short
            object = short.performAndWait { Unchecked(short.make("Author", ["name": "A"])) }
            #expect(object?.value.managedObjectContext === short)
        }
        #expect(gone == nil)
        #expect(object?.value.managedObjectContext == nil)
    }

    @Test("What can be undone keeps its objects, until the undo manager forgets it")
    func undo() throws {
        weak var author: NSManagedObject?
        context.undoManager = UndoManager()
        try context.performAndWait {
            author = context.make("Author", ["name": "A"])
            try context.save()
        }
        #expect(author != nil)
        context.performAndWait { context.undoManager?.removeAllActions() }
        #expect(author == nil)
    }
}
