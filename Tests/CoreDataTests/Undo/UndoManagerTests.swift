import CoreData
import Testing

@Suite("Undo manager")
struct UndoManagerTests {
    final class Counter {
        var value = 0
        let manager: UndoManager

        init(_ manager: UndoManager) { self.manager = manager }

        func add(_ number: Int) {
            value += number
            manager.registerUndo(withTarget: self) { $0.add(-number) }
        }
    }

    let manager = UndoManager()
    let counter: Counter

    init() {
        manager.groupsByEvent = false
        counter = Counter(manager)
    }

    private func group(_ block: () -> Void) {
        manager.beginUndoGrouping()
        block()
        manager.endUndoGrouping()
    }

    @Test("Actions of a group are undone together, in the opposite order, and redone")
    func undoRedo() {
        group {
            counter.add(1)
            counter.add(2)
        }
        group { counter.add(4) }
        manager.undo()
        #expect(counter.value == 3)
        manager.undo()
        #expect(counter.value == 0)
        #expect(!manager.canUndo)
        manager.redo()
        #expect(counter.value == 3)
        manager.redo()
        #expect(counter.value == 7)
        #expect(!manager.canRedo)
    }

    @Test("A new action makes what was undone impossible to redo")
    func newAction() {
        group { counter.add(1) }
        manager.undo()
        #expect(manager.canRedo)
        group { counter.add(2) }
        #expect(!manager.canRedo)
    }

    @Test("A group within a group is undone with it, or alone")
    func nested() {
        manager.beginUndoGrouping()
        counter.add(1)
        group { counter.add(2) }
        #expect(manager.groupingLevel == 1)
        manager.undoNestedGroup()
        #expect(counter.value == 1)
        manager.endUndoGrouping()
        manager.undo()
        #expect(counter.value == 0)
    }

    @Test("With groups by event, undo closes the group of the event first")
    func byEvent() {
        manager.groupsByEvent = true
        counter.add(1)
        counter.add(2)
        #expect(manager.groupingLevel == 1)
        manager.undo()
        #expect(counter.value == 0)
        #expect(manager.groupingLevel == 0)
    }

    @Test("Only the last levelsOfUndo groups are kept")
    func levels() {
        manager.levelsOfUndo = 2
        for number in [1, 2, 4] { group { counter.add(number) } }
        manager.undo()
        manager.undo()
        #expect(!manager.canUndo)
        #expect(counter.value == 1)
    }

    @Test("Actions of a target can be forgotten, and a target is not kept alive")
    func targets() {
        let other = Counter(manager)
        group { counter.add(1) }
        group { other.add(1) }
        manager.removeAllActions(withTarget: other)
        manager.undo()
        #expect(counter.value == 0)
        #expect(other.value == 1)
        weak var gone: Counter?
        do {
            let short = Counter(manager)
            group { short.add(1) }
            gone = short
        }
        #expect(gone == nil)
    }

    @Test("Nothing is recorded while registration is disabled; disabling nests")
    func disabled() {
        manager.disableUndoRegistration()
        manager.disableUndoRegistration()
        manager.enableUndoRegistration()
        #expect(!manager.isUndoRegistrationEnabled)
        group { counter.add(1) }
        manager.enableUndoRegistration()
        #expect(!manager.canUndo)
    }

    @Test("The name of an action goes with it from undo to redo")
    func names() {
        group {
            counter.add(1)
            manager.setActionName("Add")
        }
        #expect(manager.undoMenuItemTitle == "Undo Add")
        manager.undo()
        #expect(manager.undoActionName == "")
        #expect(manager.redoMenuItemTitle == "Redo Add")
    }

    @Test("Actions that an observer registers in an undo, beside a group of its own, are redone once")
    func registeredByObserver() {
        let undo = UndoManager()
        undo.groupsByEvent = false
        nonisolated(unsafe) var isDone = false
        nonisolated(unsafe) let manager = undo
        nonisolated(unsafe) var runs: [String] = []
        let target = NSObject()
        nonisolated(unsafe) let kept = target
        let token = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerDidCloseUndoGroup, object: undo, queue: nil
        ) { _ in
            guard manager.isUndoing, !isDone else { return }
            isDone = true
            manager.beginUndoGrouping()
            manager.registerUndo(withTarget: kept) { _ in runs.append("own") }
            manager.endUndoGrouping()
            manager.registerUndo(withTarget: kept) { _ in runs.append("observer") }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        undo.beginUndoGrouping()
        undo.registerUndo(withTarget: target) { target in
            undo.registerUndo(withTarget: target) { _ in runs.append("action") }
        }
        undo.endUndoGrouping()
        undo.undo()
        while undo.canRedo { undo.redo() }
        #expect(runs.sorted() == ["action", "observer", "own"])
    }
}
