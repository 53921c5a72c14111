import CoreData
import Testing

@Suite("The name of an action that changes objects")
struct ActionNameTests {
    private let container: NSPersistentContainer

    init() throws { container = try Library.inMemory() }

    @Test("is that of the block in which it is set, before the change or after it")
    func blocks() throws {
        let undo = UndoManager()
        let context = container.newBackgroundContext()
        context.undoManager = undo
        let author = context.performAndWait {
            undo.setActionName("Add")
            return context.make("Author", ["name": "A"])
        }
        #expect(undo.undoActionName == "Add")
        context.performAndWait {
            author.setValue("B", forKey: "name")
            undo.setActionName("Rename")
        }
        #expect(undo.undoActionName == "Rename")
        context.performAndWait {
            context.undo()
            #expect(undo.undoActionName == "Add" && undo.redoActionName == "Rename")
        }
    }

    @MainActor @Test("is that of the main queue's present turn, before the change or after it")
    func turns() async throws {
        let undo = UndoManager()
        let context = container.viewContext
        context.undoManager = undo
        undo.setActionName("Add")
        let author = context.make("Author", ["name": "A"])
        await nextTurns()
        #expect(undo.undoActionName == "Add")
        author.setValue("B", forKey: "name")
        undo.setActionName("Rename")
        await nextTurns()
        #expect(undo.undoActionName == "Rename")
        context.undo()
        #expect(undo.undoActionName == "Add" && undo.redoActionName == "Rename")
    }

    @MainActor @Test("may be set by the main queue after a block that it waited for")
    func afterBlock() {
        let undo = UndoManager()
        let context = container.newBackgroundContext()
        context.undoManager = undo
        context.performAndWait { _ = context.make("Author", ["name": "A"]) }
        undo.setActionName("Add")
        #expect(undo.undoActionName == "Add" && undo.groupingLevel == 0)
    }

    /// Waits until the main queue has ended the present event, in the turns after this one.
    @MainActor private func nextTurns() async {
        for _ in 0..<3 {
            await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        }
    }
}
