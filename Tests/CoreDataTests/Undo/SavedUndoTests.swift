import CoreData
import Testing

@Suite("Undo of what was saved")
struct SavedUndoTests {
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
        context.undoManager = UndoManager()
        let context = context
        try context.performAndWait {
            let author = context.make("Author", ["name": "A", "age": 40])
            context.make("Book", ["title": "T", "price": 10, "author": author])
            try context.save()
            context.reset()
        }
    }

    private func event(_ block: () throws -> Void) throws { try context.performAndWait { try block() } }

    private func stored<Value>(_ read: (NSManagedObjectContext) throws -> Value) throws -> Value {
        let other = container.newBackgroundContext()
        return try other.performAndWait { try read(other) }
    }

    @Test("A deletion with its cascade comes back with all values and relationships, though nobody had read them")
    func deletion() throws {
        try event {
            context.delete(try #require(try context.all("Author").first))
            try context.save()
        }
        #expect(try stored { try $0.all("Book").count } == 0)
        try event {
            context.undo()
            try context.save()
            #expect(try #require(try context.all("Author").first).objects("books").count == 1)
        }
        try stored { other in
            let book = try #require(try other.all("Book").first)
            #expect(book.string("title") == "T")
            let author = try #require(book.value(forKey: "author") as? NSManagedObject)
            #expect(author.string("name") == "A")
            #expect(author.value(forKey: "age") as? Int == 40)
            #expect(author.objects("books") == [book])
        }
    }

    @Test("Undo takes back what the event changed, and leaves what others saved and was merged since")
    func mergedValue() throws {
        let other = container.newBackgroundContext()
        let context = context
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { note in context.mergeChanges(fromContextDidSave: note) }
        defer { NotificationCenter.default.removeObserver(token) }
        try event {
            try context.all("Book").first?.setValue("X", forKey: "title")
            try context.save()
        }
        try other.performAndWait {
            try other.all("Book").first?.setValue(20, forKey: "price")
            try other.save()
        }
        try event {
            context.undo()
            try context.save()
        }
        try stored { reader in
            let book = try #require(try reader.all("Book").first)
            #expect(book.string("title") == "T")
            #expect(book.value(forKey: "price") as? Double == 20)
        }
    }

    @Test("Undo of an added member leaves the members that others added since")
    func mergedMember() throws {
        let other = container.newBackgroundContext()
        let context = context
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { note in context.mergeChanges(fromContextDidSave: note) }
        defer { NotificationCenter.default.removeObserver(token) }
        try event {
            let book = try #require(try context.all("Book").first)
            _ = book.objects("tags")
            book.mutableSetValue(forKey: "tags").add(context.make("Tag", ["name": "mine"]))
            try context.save()
        }
        try other.performAndWait {
            let book = try #require(try other.all("Book").first)
            book.mutableSetValue(forKey: "tags").add(other.make("Tag", ["name": "theirs"]))
            try other.save()
        }
        try event {
            context.undo()
            try context.save()
        }
        try stored { reader in
            let book = try #require(try reader.all("Book").first)
            #expect(book.objects("tags").map { $0.string("name") } == ["theirs"])
        }
    }
}
