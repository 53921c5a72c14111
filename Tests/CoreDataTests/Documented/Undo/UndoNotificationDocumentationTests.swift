import CoreData
import Testing

/// Checks from the pages of `UndoManager`'s notifications, and of undo in contexts.
@MainActor @Suite("Documented: notifications of undo managers")
struct UndoNotificationDocumentationTests {
    private final class Box {
        var value = 0
    }

    private static let names: [(NSNotification.Name, String)] = [
        (.NSUndoManagerCheckpoint, "checkpoint"), (.NSUndoManagerDidOpenUndoGroup, "opened"),
        (.NSUndoManagerWillCloseUndoGroup, "closing"), (.NSUndoManagerDidCloseUndoGroup, "closed"),
        (.NSUndoManagerWillUndoChange, "undoing"), (.NSUndoManagerDidUndoChange, "undone"),
        (.NSUndoManagerWillRedoChange, "redoing"), (.NSUndoManagerDidRedoChange, "redone"),
    ]

    /// What a manager posts meanwhile, without checkpoints.
    private func posted(by manager: UndoManager, during block: () -> Void) -> [String] {
        nonisolated(unsafe) var log: [String] = []  // posted on this thread
        let tokens = Self.names.map { name, label in
            NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { _ in log.append(label)
            }
        }
        block()
        for token in tokens { NotificationCenter.default.removeObserver(token) }
        return log
    }

    @Test("A group is told when it was opened, when it is about to be closed, and when it was")
    func groups() {
        let manager = UndoManager()
        manager.groupsByEvent = false
        let log = posted(by: manager) {
            manager.beginUndoGrouping()
            manager.registerUndo(withTarget: Box()) { $0.value = 0 }
            manager.endUndoGrouping()
        }
        #expect(log.filter { $0 != "checkpoint" } == ["opened", "closing", "closed"] && log.contains("checkpoint"))
    }

    @Test("A checkpoint comes before a group is opened or closed, but not before a top-level group is opened")
    func checkpoints() {
        let manager = UndoManager()
        manager.groupsByEvent = false
        let log = posted(by: manager) {
            manager.beginUndoGrouping()
            manager.beginUndoGrouping()
            manager.endUndoGrouping()
            manager.endUndoGrouping()
        }
        #expect(
            log == [
                "opened", "checkpoint", "opened", "checkpoint", "closing", "closed", "checkpoint", "closing", "closed",
            ])
    }

    @Test("Undo and redo are told before and after")
    func undoing() {
        let (manager, box) = (UndoManager(), Box())
        manager.groupsByEvent = false
        manager.beginUndoGrouping()
        manager.registerUndo(withTarget: box) { box in manager.registerUndo(withTarget: box) { _ in } }
        manager.endUndoGrouping()
        let undone = posted(by: manager) { manager.undo() }
        #expect(undone.first { $0 != "checkpoint" } == "undoing" && undone.last { $0 != "checkpoint" } == "undone")
        let redone = posted(by: manager) { manager.redo() }
        #expect(redone.contains("redoing") && redone.last { $0 != "checkpoint" } == "redone")
    }

    @Test("processPendingChanges(): changes are registered with the undo manager")
    func processing() throws {
        let context = try Library.inMemory().viewContext
        let manager = UndoManager()
        context.undoManager = manager
        context.make("Book")
        context.processPendingChanges()
        #expect(manager.canUndo)
        context.undoManager = nil
        context.make("Book")
        context.processPendingChanges()
        context.undo()
        #expect(context.insertedObjects.count == 2)
    }

    @Test("A context's undo and redo are its undo manager's")
    func contexts() throws {
        let context = try Library.inMemory().viewContext
        let book = context.make("Book", ["title": "A"])
        try context.save()
        context.undoManager = UndoManager()
        book.setValue("B", forKey: "title")
        context.undo()
        #expect(book.shown("title") == "A" && context.undoManager?.canRedo == true)
        context.redo()
        #expect(book.shown("title") == "B" && context.undoManager?.canUndo == true)
    }
}
