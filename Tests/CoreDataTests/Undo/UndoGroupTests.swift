import CoreData
import Testing

@Suite("Groups of an undo manager, and the changes of its context")
struct UndoGroupTests {
    private let container: NSPersistentContainer
    private let context: NSManagedObjectContext
    private let undo = UndoManager()
    private let author: NSManagedObject

    init() throws {
        container = try Library.inMemory()
        let context = container.newBackgroundContext()
        self.context = context
        author = try context.performAndWait {
            let author = context.make("Author", ["name": "A", "age": 1])
            try context.save()
            return author
        }
        context.undoManager = undo
    }

    private func name(_ name: String) { author.setValue(name, forKey: "name") }

    private func group(_ block: () throws -> Void) rethrows {
        undo.beginUndoGrouping()
        try block()
        undo.endUndoGrouping()
    }

    private func shown() -> String { "\(author.string("name") ?? "-") \(author.value(forKey: "age") ?? "-")" }

    @Test("A group has what was changed while it was open")
    func explicit() throws {
        undo.groupsByEvent = false
        try context.performAndWait {
            group { name("B") }
            #expect(undo.canUndo)
            group { author.setValue(2, forKey: "age") }
            context.undo()
            #expect(shown() == "B 1")
            try context.save()
            context.undo()
            #expect(shown() == "A 1")
            context.redo()
            context.redo()
            #expect(shown() == "B 2")
        }
    }

    @Test("Two groups within one event are two, and can be undone one by one")
    func nested() {
        context.performAndWait {
            group { name("B") }
            group { author.setValue(2, forKey: "age") }
            undo.undoNestedGroup()
            #expect(shown() == "B 1")
            undo.undo()
            #expect(shown() == "A 1")
        }
    }

    @Test("A group within a group has its own changes")
    func within() {
        undo.groupsByEvent = false
        context.performAndWait {
            group {
                name("B")
                group { author.setValue(2, forKey: "age") }
                undo.undoNestedGroup()
                #expect(shown() == "B 1")
            }
            undo.undo()
            #expect(shown() == "A 1")
        }
    }

    @Test("The manager's own undo takes back the changes of the present event first")
    func present() {
        context.performAndWait { name("B") }
        context.performAndWait {
            name("C")
            undo.undo()
            #expect(shown() == "B 1")
            undo.undo()
            #expect(shown() == "A 1")
            undo.redo()
            undo.redo()
            #expect(shown() == "C 1")
        }
    }

    @Test("What another target's action changes in the context is redone with it")
    func otherTarget() {
        context.performAndWait {
            name("B")
            undo.registerUndo(withTarget: author) { $0.setValue(2, forKey: "age") }
        }
        context.performAndWait {
            undo.undo()
            #expect(shown() == "A 2")
            undo.redo()
            #expect(shown() == "B 1")
        }
    }

    @Test("Changes while no group is open form a group of their own, if events form none")
    func alone() throws {
        undo.groupsByEvent = false
        try context.performAndWait {
            name("B")
            try context.save()
            name("C")
            #expect(!undo.canRedo)
            undo.undo()
            #expect(shown() == "B 1")
            undo.undo()
            #expect(shown() == "A 1")
        }
    }

    @Test("Two contexts may share a manager; one that has let go of it is not asked any more")
    func shared() throws {
        let other = container.newBackgroundContext()
        other.undoManager = undo
        context.undoManager = nil
        context.performAndWait {
            name("B")
            undo.beginUndoGrouping()
            undo.endUndoGrouping()
            #expect(author.changedValuesForCurrentEvent().count == 1)
        }
        try other.performAndWait {
            let same = try #require(try other.all("Author").first)
            group { same.setValue("C", forKey: "name") }
            undo.undo()
            #expect(same.string("name") == "A")
        }
    }

    @Test("A context does not stay for its manager's sake")
    func released() {
        weak var gone: NSManagedObjectContext?
        do {
            let other = container.newBackgroundContext()
            other.undoManager = undo
            gone = other
        }
        #expect(gone == nil)
        undo.beginUndoGrouping()
        undo.endUndoGrouping()
    }
}
