import CoreData
import Synchronization
import Testing

@Suite("Undo and redo of a context")
struct ContextUndoTests {
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
        context.undoManager = UndoManager()
    }

    /// Runs a block as one event on the context's queue.
    private func event(_ block: () throws -> Void) throws { try context.performAndWait { try block() } }

    @Test("A context has no undo manager unless it is given one, and undo does nothing then")
    func none() throws {
        context.undoManager = nil
        try event {
            context.make("Author", ["name": "A"])
            context.undo()
            #expect(context.insertedObjects.count == 1)
        }
    }

    @Test("Undo gives an object its former value, redo the new one; an object that is as saved has no changes")
    func update() throws {
        try event {
            context.make("Author", ["name": "A"])
            try context.save()
        }
        try event { try context.all("Author").first?.setValue("B", forKey: "name") }
        try event {
            let author = try #require(try context.all("Author").first)
            context.undo()
            #expect(author.string("name") == "A")
            #expect(!author.hasChanges)
            #expect(!context.hasChanges)
            context.redo()
            #expect(author.string("name") == "B")
            #expect(author.isUpdated)
        }
    }

    @Test("All changes of one event are undone together, those of another one by themselves")
    func grouping() throws {
        try event {
            context.make("Author", ["name": "A"])
            context.make("Author", ["name": "B"])
        }
        try event { context.make("Author", ["name": "C"]) }
        try event {
            context.undo()
            let two = try context.all("Author").count
            context.undo()
            let none = try context.all("Author").count
            #expect(two == 2 && none == 0)
            #expect(!context.hasChanges)
        }
    }

    @Test("Undo of an insertion takes the object out of the context; redo brings the same object back")
    func insertion() throws {
        try event { context.make("Author", ["name": "A"]) }
        try event {
            let author = try #require(try context.all("Author").first)
            context.undo()
            #expect(author.managedObjectContext == nil)
            #expect(context.insertedObjects.isEmpty)
            context.redo()
            #expect(context.insertedObjects == [author])
            #expect(author.string("name") == "A")
            try context.save()
            #expect(!author.objectID.isTemporaryID)
        }
    }

    @Test("Undo of a deletion brings back the object, what was deleted with it, and its relationships")
    func deletion() throws {
        try event {
            context.make("Book", ["title": "T", "author": context.make("Author", ["name": "A"])])
            try context.save()
        }
        try event { context.delete(try #require(try context.all("Author").first)) }
        try event {
            #expect(context.deletedObjects.count == 2)
            context.undo()
            #expect(!context.hasChanges)
            let book = try #require(try context.all("Book").first)
            #expect(book.value(forKeyPath: "author.name") as? String == "A")
            let author = try #require(book.value(forKey: "author") as? NSManagedObject)
            #expect(author.objects("books") == [book])
        }
    }

    @Test("Undo of changed relationships sets both ends right")
    func relationships() throws {
        try event {
            context.make("Author", ["name": "A"])
            context.make("Author", ["name": "B"])
            context.make("Book", ["title": "T", "author": try context.all("Author", by: "name").first])
            try context.save()
        }
        try event {
            let other = try context.all("Author", by: "name").last
            try context.all("Book").first?.setValue(other, forKey: "author")
        }
        try event {
            context.undo()
            let counts = try context.all("Author", by: "name").map { $0.objects("books").count }
            #expect(counts == [1, 0])
            context.redo()
            let moved = try context.all("Author", by: "name").map { $0.objects("books").count }
            #expect(moved == [0, 1])
        }
    }

    @Test("The order of an ordered relationship is undone")
    func order() throws {
        try event {
            let chapters = ["1", "2", "3"].map { context.make("Chapter", ["title": $0]) }
            context.make("Book", ["chapters": NSOrderedSet(array: chapters)])
            try context.save()
        }
        func titles() throws -> [String] {
            let chapters = try context.all("Book").first?.value(forKey: "chapters") as? NSOrderedSet
            return chapters?.array.compactMap { ($0 as? NSManagedObject)?.string("title") } ?? []
        }
        try event {
            let book = try #require(try context.all("Book").first)
            let chapters = try #require(book.value(forKey: "chapters") as? NSOrderedSet)
            book.setValue(chapters.reversed, forKey: "chapters")
        }
        try event {
            let reversed = try titles()
            context.undo()
            let restored = try titles()
            #expect(reversed == ["3", "2", "1"])
            #expect(restored == ["1", "2", "3"])
            #expect(!context.hasChanges)
        }
    }

    @Test("A save keeps what can be undone: undoing a saved insertion deletes, a saved change changes back")
    func acrossSave() throws {
        try event { context.make("Author", ["name": "A"]) }
        try event { try context.all("Author").first?.setValue("B", forKey: "name") }
        try event {
            try context.save()
            let author = try #require(try context.all("Author").first)
            context.undo()
            #expect(author.string("name") == "A")
            #expect(author.isUpdated)
            context.undo()
            #expect(author.isDeleted)
            try context.save()
            let left = try context.all("Author").count
            #expect(left == 0)
        }
    }

    @Test("Undoing a deletion that was saved inserts the object again, under its ID")
    func savedDeletion() throws {
        try event {
            context.make("Author", ["name": "A"])
            try context.save()
        }
        try event {
            context.delete(try #require(try context.all("Author").first))
            try context.save()
        }
        try event {
            context.undo()
            #expect(context.insertedObjects.count == 1)
            try context.save()
        }
        let other = container.newBackgroundContext()
        let names = try other.performAndWait { try other.all("Author").map { $0.string("name") } }
        #expect(names == ["A"])
    }

    @Test("Changes made while registration is disabled cannot be undone")
    func disabled() throws {
        try event {
            context.processPendingChanges()
            context.undoManager?.disableUndoRegistration()
            context.make("Author", ["name": "A"])
            context.processPendingChanges()
            context.undoManager?.enableUndoRegistration()
            #expect(context.undoManager?.canUndo == false)
        }
    }

    @Test("rollback and reset forget what could be undone")
    func rollback() throws {
        try event { context.make("Author", ["name": "A"]) }
        try event {
            context.rollback()
            #expect(context.undoManager?.canUndo == false)
        }
        try event { context.make("Author", ["name": "A"]) }
        try event {
            context.reset()
            #expect(context.undoManager?.canUndo == false)
        }
    }

    @Test("What a child saves is one undoable change of its parent")
    func child() throws {
        let child = Family.child(of: context)
        try child.performAndWait {
            child.make("Author", ["name": "A"])
            child.make("Author", ["name": "B"])
            try child.save()
        }
        try event {
            context.undo()
            #expect(!context.hasChanges)
        }
    }

    @Test("An undo posts the objects that it changed, once")
    func notification() throws {
        try event {
            context.make("Author", ["name": "A"])
            try context.save()
        }
        try event { try context.all("Author").first?.setValue("B", forKey: "name") }
        let counts = Mutex<[Int]>([])
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { note in
            let objects = note.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []
            counts.withLock { $0.append(objects.count) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try event { context.undo() }
        #expect(counts.withLock { $0 } == [1])
    }
}
