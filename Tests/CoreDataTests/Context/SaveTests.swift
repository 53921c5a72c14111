import CoreData
import Synchronization
import TestSupport
import Testing

@MainActor @Suite("Saving")
struct SaveTests {
    let container: NSPersistentContainer
    let folder: TestFolder
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        folder = try TestFolder()
        container = try Library.stored(at: folder.file("library.sqlite"))
    }

    @Test("A temporary ID becomes a permanent one")
    func permanentIdentifier() throws {
        let author = context.make("Author", ["name": "A"])
        let temporary = author.objectID
        #expect(temporary.isTemporaryID)
        try context.save()
        #expect(!author.objectID.isTemporaryID)
        #expect(author.objectID.uriRepresentation().absoluteString.hasSuffix("/Author/p1"))
        #expect(context.registeredObject(for: author.objectID) === author)
        #expect(context.registeredObject(for: temporary) === author)
    }

    @Test("What is saved is there for another coordinator of the file")
    func durable() throws {
        context.make("Book", ["title": "T", "author": context.make("Author", ["name": "A"])])
        try context.save()
        let other = try Library.stored(at: folder.file("library.sqlite"))
        let book = try #require(try other.viewContext.all("Book").first)
        #expect(book.value(forKeyPath: "author.name") as? String == "A")
    }

    @Test("A required value that is missing is refused, and the store stays as it was")
    func missingValue() throws {
        context.make("Author", ["name": "A"])
        try context.save()
        let invalid = context.make("Author")
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == 1570)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "name")
        #expect(invalid.isInserted)
        #expect(invalid.objectID.isTemporaryID)
        let other = try Library.stored(at: folder.file("library.sqlite"))
        #expect(try other.viewContext.all("Author").count == 1)
    }

    @Test("Several mistakes come as one error with all of them")
    func severalMistakes() throws {
        context.make("Author")
        context.make("Author")
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == 1560)
        #expect((error?.userInfo[NSDetailedErrorsKey] as? [NSError])?.count == 2)
    }

    @Test("An object that was changed and saved has no changes left")
    func committed() throws {
        let author = context.make("Author", ["name": "A"])
        #expect(author.changedValues()["name"] as? String == "A")
        try context.save()
        #expect(!context.hasChanges)
        #expect(!author.hasChanges)
        author.setValue("B", forKey: "name")
        #expect(author.isUpdated)
        #expect(author.committedValues(forKeys: ["name"])["name"] as? String == "A")
        #expect(author.changedValues().keys.sorted() == ["name"])
        try context.save()
        #expect(author.changedValues().isEmpty)
    }

    @Test("Rollback gives back what was saved, and forgets what was not")
    func rollback() throws {
        let author = context.make("Author", ["name": "A"])
        try context.save()
        author.setValue("B", forKey: "name")
        let new = context.make("Book", ["author": author])
        context.rollback()
        #expect(author.string("name") == "A")
        #expect(new.managedObjectContext == nil)
        #expect(author.objects("books").isEmpty)
        #expect(!context.hasChanges)
    }

    @Test("A save posts the objects it inserted, updated and deleted")
    func notification() throws {
        let author = context.make("Author", ["name": "A"])
        let doomed = context.make("Author", ["name": "D"])
        try context.save()
        author.setValue("B", forKey: "name")
        context.delete(doomed)
        let new = context.make("Author", ["name": "N"])
        let posted = Mutex<[String: [String]]>([:])
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { note in
            var found: [String: [String]] = [:]
            for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
                let objects = note.userInfo?[key] as? Set<NSManagedObject> ?? []
                found[key] = objects.map { $0.objectID.description }
            }
            posted.withLock { $0 = found }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let doomedID = doomed.objectID.description
        try context.save()
        let found = posted.withLock { $0 }
        #expect(found["inserted"] == [new.objectID.description])
        #expect(found["updated"] == [author.objectID.description])
        #expect(found["deleted"] == [doomedID])
    }
}
