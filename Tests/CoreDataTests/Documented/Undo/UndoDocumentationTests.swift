import CoreData
import Testing

/// Checks from the pages of `UndoManager`.
@MainActor @Suite("Documented: undo managers")
struct UndoDocumentationTests {
    private final class Box {
        var value = 0

        func set(_ new: Int, _ manager: UndoManager) {
            let old = value
            manager.registerUndo(withTarget: self) { $0.set(old, manager) }
            value = new
        }
    }

    private func grouped(_ manager: UndoManager, _ body: () -> Void) {
        manager.beginUndoGrouping()
        body()
        manager.endUndoGrouping()
    }

    @Test("undo calls what was registered last, by groups; what that registers is for redo")
    func undoing() {
        let (manager, box) = (UndoManager(), Box())
        manager.groupsByEvent = false
        grouped(manager) { box.set(1, manager) }
        grouped(manager) {
            box.set(2, manager)
            box.set(3, manager)
        }
        manager.undo()
        #expect(box.value == 1 && manager.canRedo)
        manager.undo()
        #expect(box.value == 0 && !manager.canUndo)
        manager.redo()
        #expect(box.value == 1)
    }

    @Test("A new registration forgets what could be redone")
    func forgettingRedo() {
        let (manager, box) = (UndoManager(), Box())
        manager.groupsByEvent = false
        grouped(manager) { box.set(1, manager) }
        manager.undo()
        grouped(manager) { box.set(5, manager) }
        #expect(!manager.canRedo && manager.canUndo)
    }

    @Test("levelsOfUndo keeps the latest groups only; 0 is no limit")
    func levels() {
        let (manager, box) = (UndoManager(), Box())
        manager.groupsByEvent = false
        manager.levelsOfUndo = 2
        for number in 1...4 { grouped(manager) { box.set(number, manager) } }
        manager.undo()
        manager.undo()
        #expect(box.value == 2 && !manager.canUndo)
    }

    @Test("Disabled registration registers nothing, until it is enabled as often as it was disabled")
    func disabling() {
        let (manager, box) = (UndoManager(), Box())
        manager.groupsByEvent = false
        manager.disableUndoRegistration()
        manager.disableUndoRegistration()
        manager.enableUndoRegistration()
        #expect(!manager.isUndoRegistrationEnabled)
        grouped(manager) { box.set(1, manager) }
        #expect(!manager.canUndo)
        manager.enableUndoRegistration()
        #expect(manager.isUndoRegistrationEnabled)
    }

    @Test("Action names tell what undo and redo would do")
    func names() {
        let (manager, box) = (UndoManager(), Box())
        manager.groupsByEvent = false
        grouped(manager) {
            box.set(1, manager)
            manager.setActionName("Typing")
        }
        #expect(manager.undoActionName == "Typing" && manager.undoMenuItemTitle == "Undo Typing")
        manager.undo()
        #expect(
            manager.redoActionName == "Typing" && manager.redoMenuItemTitle == "Redo Typing"
                && manager.undoActionName.isEmpty)
    }

    @Test("removeAllActions(withTarget:) forgets those of one target; removeAllActions all")
    func removing() {
        let manager = UndoManager()
        let (one, other) = (Box(), Box())
        manager.groupsByEvent = false
        grouped(manager) { one.set(1, manager) }
        grouped(manager) { other.set(1, manager) }
        manager.removeAllActions(withTarget: other)
        manager.undo()
        #expect(one.value == 0 && other.value == 1)
        manager.removeAllActions()
        #expect(!manager.canUndo && !manager.canRedo)
    }
}
