import CoreData
import Pippin

/// What a caller's context had unsaved before work was done in it, so that work that fails can be taken back and the rest
/// stay. For use on the context's queue.
final class FormerChanges {
    private let context: NSManagedObjectContext
    /// Records the work where the context had changes; without any, a rollback does.
    private let recorder: UndoManager?
    private let formerRecorder: UndoManager?

    init(of context: NSManagedObjectContext) {
        self.context = context
        formerRecorder = context.undoManager
        guard context.hasChanges else {
            recorder = nil
            return
        }
        context.processPendingChanges()
        let recorder = UndoManager()
        recorder.groupsByEvent = false
        recorder.beginUndoGrouping()
        context.undoManager = recorder
        self.recorder = recorder
    }

    /// The work is done, and its changes stay.
    func forget() {
        guard let recorder else { return }
        recorder.endUndoGrouping()
        context.undoManager = formerRecorder
    }

    /// Takes back what was changed since.
    func restore() {
        guard let recorder else { return context.rollback() }
        context.processPendingChanges()
        recorder.endUndoGrouping()
        recorder.undo()
        context.processPendingChanges()
        context.undoManager = formerRecorder
    }
}
