import CoreData
import Testing

@Suite("Undo in corners: contexts without a queue, observers of an undo, stores that objects are assigned to")
struct ConfinedUndoTests {
    @Test("A group has what was changed while it was open, also in a context that is not confined to a queue")
    func confined() throws {
        let context = NSManagedObjectContext()
        context.persistentStoreCoordinator = try Library.inMemory().persistentStoreCoordinator
        let undo = UndoManager()
        undo.groupsByEvent = false
        let author = context.make("Author", ["name": "A", "age": 1])
        try context.save()
        context.undoManager = undo
        for (key, value) in [("name", "B"), ("age", 2)] as [(String, Any)] {
            undo.beginUndoGrouping()
            author.setValue(value, forKey: key)
            undo.endUndoGrouping()
        }
        undo.undo()
        #expect(author.string("name") == "B")
        #expect(author.value(forKey: "age") as? Int == 1)
        undo.undo()
        #expect(author.string("name") == "A")
        undo.redo()
        #expect(author.string("name") == "B")
    }

    @Test(
        "What an observer changes when the group of an undo has closed is undone and redone with it",
        arguments: [true, false])
    func observer(groupsByEvent: Bool) throws {
        let context = try Library.inMemory().newBackgroundContext()
        let undo = UndoManager()
        undo.groupsByEvent = groupsByEvent
        let (author, other) = try context.performAndWait {
            let author = context.make("Author", ["name": "A", "age": 1])
            let other = NSMutableArray()
            try context.save()
            context.undoManager = undo
            author.setValue("B", forKey: "name")
            context.processPendingChanges()
            return (author, other)
        }
        func shown() -> String { "\(author.string("name") ?? "-") \(author.value(forKey: "age") ?? "-")" }
        nonisolated(unsafe) var age = 2  // used on the queue of the context, as what follows
        nonisolated(unsafe) let (subject, list, manager) = (author, other, undo)
        let token = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerDidCloseUndoGroup, object: undo, queue: nil
        ) { _ in
            guard manager.isUndoing || manager.isRedoing else { return }
            subject.setValue(age, forKey: "age")
            age += 1
            try? context.save()
            manager.registerUndo(withTarget: list) { $0.add("x") }
        }
        try context.performAndWait {
            undo.undo()
            #expect(shown() == "A 2")
            #expect(!undo.canUndo)
            #expect(undo.canRedo)
            undo.redo()
            #expect(shown() == "B 3")
            #expect(other.count == 1)
            #expect(!undo.canRedo)
            NotificationCenter.default.removeObserver(token)
            undo.undo()
            #expect(shown() == "A 2")
            #expect(other.count == 2)
            #expect(!undo.canUndo)
            try context.save()
        }
    }

    @Test(
        "An object that was to go to a store goes there when its deletion is undone or taken back",
        arguments: [true, false])
    func assigned(isUndone: Bool) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let stores = try (0..<2).map { _ in
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        if isUndone { context.undoManager = UndoManager() }
        let author = context.performAndWait {
            let author = context.make("Author", ["name": "A"])
            context.assign(author, to: stores[1])
            return author
        }
        context.performAndWait {
            let record = isUndone ? nil : context.beginRecord()
            context.delete(author)
            context.processPendingChanges()
            #expect(author.managedObjectContext == nil)
            if let record {
                context.takeBack(record)
                context.end(record)
            }
        }
        try context.performAndWait {
            if isUndone { context.undo() }
            try context.save()
            #expect(author.objectID.persistentStore === stores[1])
        }
    }
}
