import CoreData
import Testing

@Suite("References to objects that will not be there")
struct DanglingReferenceTests {
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
        let context = context
        try context.performAndWait {
            context.make("Author", ["name": "A"])
            context.make("Book", ["title": "T"])
            context.make("Tag", ["name": "old"])
            try context.save()
        }
    }

    private func refusal() -> NSError? {
        do {
            try context.save()
            return nil
        } catch { return error as NSError }
    }

    @Test("A to-one relationship that is set to a deleted object is refused by validation: 1550, with the key")
    func deleted() throws {
        try context.performAndWait {
            let (author, book) = (try context.all("Author")[0], try context.all("Book")[0])
            context.delete(author)
            context.processPendingChanges()
            book.setValue(author, forKey: "author")
            let error = try #require(refusal())
            #expect(error.domain == NSCocoaErrorDomain && error.code == 1550)
            #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "author")
            #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === book)
            book.setValue(nil, forKey: "author")
            try context.save()
        }
    }

    @Test("A reference to an object that was inserted and deleted without being saved is refused, too")
    func neverSaved() throws {
        try context.performAndWait {
            let (author, book) = (context.make("Author", ["name": "B"]), try context.all("Book")[0])
            context.delete(author)
            context.processPendingChanges()
            book.setValue(author, forKey: "author")
            #expect(refusal()?.code == 1550)
        }
    }

    @Test("So is a deleted object that is added to a to-many relationship")
    func member() throws {
        try context.performAndWait {
            let (tag, book) = (try context.all("Tag")[0], try context.all("Book")[0])
            context.delete(tag)
            context.processPendingChanges()
            book.setValue(Set([tag]), forKey: "tags")
            let error = try #require(refusal())
            #expect(error.code == 1550)
            #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "tags")
        }
    }

    @Test("An object that is deleted after the relationship was set leaves it, by its delete rule, and is saved")
    func nullified() throws {
        try context.performAndWait {
            let (tag, book) = (try context.all("Tag")[0], try context.all("Book")[0])
            book.setValue(Set([tag]), forKey: "tags")
            context.delete(tag)
            try context.save()
            #expect(book.objects("tags").isEmpty)
        }
    }
}
